// SPDX-License-Identifier: GPL-2.0-or-later
#include "voice_quality.h"

#include <algorithm>
#include <cmath>

namespace netboxit
{

namespace
{

/// The delay from which on a conversation suffers more, ms.
constexpr double NOTICED = 177.3;
constexpr double BEST = 100.0; ///< R, with a score of 4.5

} // namespace

double OpinionScore(double delay, double loss)
{
    const double ms = 1e3 * delay;
    const double rating = 94.2 - 0.024 * ms - 0.11 * std::max(0.0, ms - NOTICED) - 30.0 * std::log(1.0 + 15.0 * loss);
    if (rating <= 0.0)
    {
        return 1.0;
    }
    const double bounded = std::min(rating, BEST);
    return 1.0 + 0.035 * bounded + 7e-6 * bounded * (bounded - 60.0) * (BEST - bounded);
}

} // namespace netboxit
