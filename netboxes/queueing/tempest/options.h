// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../station_weights.h"
#include "channels.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace netboxit::queueing::tempest
{

/// What the command line says wrong, with place and remedy.
struct BadOption : std::invalid_argument
{
    using std::invalid_argument::invalid_argument;
};

/// What a trial is: README.md has the options.
struct Options
{
    std::uint64_t events{0};    ///< enqueues and dequeues together
    std::uint64_t leastTotal{0}; ///< packets that wait when dequeues end
    std::uint64_t mostTotal{0};  ///< packets that wait when enqueues end
    std::uint32_t length{1700}; ///< of each packet, bytes
    unsigned burst{0};          ///< 0: smooth
    unsigned leastOfFlow{0};    ///< packets of a flow below which dequeues end
    std::string scheduler;      ///< of flows
    std::string below;          ///< of stations; empty: there is one scheduler alone
    Weights weights;            ///< by flow
    std::size_t hosts{0};       ///< flow i is of host i modulo their number; 0: each of another one
    Weights stationWeights;     ///< by station, for a scheduler of theirs
    std::vector<double> losses; ///< by station, as a share; of channels that change the mean. None: nobody knows of stations
    TwoStates states;           ///< of channels that change
    double mostLoss{0};         ///< a channel that loses more is bad
    std::uint64_t prefetched{0}; ///< packets
    double rate{54e6};          ///< bit/s
    unsigned seed{1};
};

/// Raises BadOption.
Options ParseOptions(const std::vector<std::string>& words);

} // namespace netboxit::queueing::tempest
