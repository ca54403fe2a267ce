// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace netboxit
{

/// The mean opinion score of a call with G.711 whose packets take `delay` (s) and of which a share `loss` is lost at random (R. G. Cole and
/// J. H. Rosenbluth, "Voice over IP performance monitoring", 2001; Y. Dai, PhD thesis, Queen Mary University of London, 2018, Eq. 5.3 and 5.4, the latter with the
/// 7e-6 of Cole and Rosenbluth, where the thesis prints 7e6).
double OpinionScore(double delay, double loss);

} // namespace netboxit
