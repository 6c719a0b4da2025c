# SPDX-License-Identifier: MIT
"""Partials on disk or in an object store, by what they were made from, so that a run that was stopped goes on."""

from __future__ import annotations

import contextlib
import hashlib
import os
import uuid

from ._shards import _filesystem

_MARK = b"repscope partial 1\n"


class Store:
    """A folder of partials. Each file has a digest of its bytes: what is cut or damaged counts as absent."""

    def __init__(self, folder: str) -> None:
        self.folder = folder.rstrip("/")
        if "://" not in folder:
            self.folder = os.path.abspath(folder)
            os.makedirs(self.folder, exist_ok=True)

    def take(self, key: str) -> bytes | None:
        """The partial of this key, if it is there and whole."""
        try:
            if "://" in self.folder:
                system, inner = _filesystem(self._path(key))
                data = system.cat_file(inner)
            else:
                with open(self._path(key), "rb") as file:
                    data = file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        head = len(_MARK) + 32
        if data[: len(_MARK)] != _MARK or _digest(data[head:]) != data[len(_MARK) : head]:
            return None
        return data[head:]

    def has(self, key: str) -> bool:
        """Whether there is a file of this key."""
        if "://" in self.folder:
            system, inner = _filesystem(self._path(key))
            return bool(system.exists(inner))
        return os.path.exists(self._path(key))

    def put(self, key: str, partial: bytes) -> None:
        """Stores a partial, whole or not at all."""
        data = _MARK + _digest(partial) + partial
        path = self._path(key)
        if "://" in self.folder:
            system, inner = _filesystem(path)
            system.makedirs(inner.rpartition("/")[0], exist_ok=True)
            system.pipe_file(inner, data)
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        temporary = f"{path}.{uuid.uuid4().hex}"
        try:
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _path(self, key: str) -> str:
        return f"{self.folder}/{key[:2]}/{key}"


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=32).digest()
