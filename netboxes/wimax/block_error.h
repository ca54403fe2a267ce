// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "burst_profile.h"

namespace netboxit::wimax
{

/// Probability that a Reed-Solomon block (one OFDM symbol) is not repaired, `marginDb` above (or below) the
/// receiver SNR of its profile.
///
/// The curve is anchored where the standard puts it, at a bit error ratio of 1e-6 after decoding with a
/// margin of 0 dB (8.3.11.1). Its slope comes from the profile's own code: union bound of the Viterbi decoder
/// on a Gaussian channel with the distance spectrum of the punctured code (D. Haccoun, G. Begin, "High-rate
/// punctured convolutional codes for Viterbi and sequential decoding", IEEE Trans. Commun. 37(11), 1989),
/// then bounded-distance Reed-Solomon decoding with independent byte errors. Constellation and mapping only
/// scale the signal-to-noise ratio of a coded bit, and the anchor absorbs that scale.
double BlockErrorRate(ProfileId profile, double marginDb);

/// Bit error ratio after decoding, on the same curve.
double BitErrorRatio(ProfileId profile, double marginDb);

/// Probability that a PDU that lies in so many blocks is lost.
double PduErrorRate(double blockErrorRate, std::uint32_t blocks);

} // namespace netboxit::wimax
