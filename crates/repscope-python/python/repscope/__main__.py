# SPDX-License-Identifier: MIT
"""`python -m repscope` is the repscope command."""

import sys

from ._command import main

sys.exit(main())
