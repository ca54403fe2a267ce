// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "options.h"

#include <random>

namespace netboxit::queueing::tempest
{

/// Which flows get packets, phase by phase (Grazia, 4.3.2.2).
class Arrivals
{
  public:
    explicit Arrivals(const Options& options);

    /// The flows of the packets that come until so many wait, each in its turn; `waiting` tells how many of each flow wait now.
    std::vector<LineId> Phase(const std::vector<std::uint32_t>& waiting, std::uint64_t total);

  private:
    std::vector<LineId> Smooth(std::vector<std::uint32_t> waiting, std::uint64_t total) const;
    std::vector<LineId> Bursts(std::uint64_t total);

    const Options& m_options;
    std::mt19937_64 m_random;
};

} // namespace netboxit::queueing::tempest
