// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace netboxit
{

/// Payload in bytes of one burst of DVB-RCS2's reference waveform `id` (3 … 22).
std::uint32_t BurstPayload(int id);

/// Bits of one DVB-S2 BBFRAME, header included (Kbch), for a FECFRAME that is `normal` or `short` and a code
/// rate like "3/4".
std::uint32_t BbframeBits(const std::string& fecframe, const std::string& codeRate);

} // namespace netboxit
