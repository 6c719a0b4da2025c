// SPDX-License-Identifier: MIT
//! The demo as a whole.

mod make;
