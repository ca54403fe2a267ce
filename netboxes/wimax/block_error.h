// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "burst_profile.h"

namespace netboxit::wimax
{

/// Probability that a Reed-Solomon block (one OFDM symbol) is not repaired, `marginDb` above (or below) the
/// receiver SNR of its profile.
///
/// The curve is anchored where the standard puts it, at a bit error ratio of 1e-6 after decoding with a
/// margin of 0 dB (8.3.11.1). Its shape is that of the profile's own concatenated code on a Gaussian channel, as
/// convolutional_code.py simulates it. Constellation and mapping only scale the signal-to-noise ratio of a
/// coded bit, and the anchor absorbs that scale.
double BlockErrorRate(ProfileId profile, double marginDb);

/// Probability that a PDU that lies in so many blocks is lost.
double PduErrorRate(double blockErrorRate, std::uint32_t blocks);

} // namespace netboxit::wimax
