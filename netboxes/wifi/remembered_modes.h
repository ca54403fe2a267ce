// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace netboxit
{

/// Makes ns-3's OFDM and ERP-OFDM modes answer from memory what never changes. For each frame and its acknowledgement they are
/// asked some thirty times for their data rate, and each time look their name up in a table and divide times.
void RememberModes();

} // namespace netboxit
