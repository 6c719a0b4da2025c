// SPDX-License-Identifier: MIT
//! Everything that is tested through the public interface, in one program.

mod browser;
mod declared;
mod evaluated;
mod figures;
mod page;
