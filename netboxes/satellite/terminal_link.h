// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "adaptive_coding.h"
#include "carrier.h"
#include "codeword_log.h"
#include "sky.h"

#include "../engine/loss_counts.h"


namespace netboxit
{

/// Everybody's: what is sent, and what was lost.
struct Station
{
    std::string name;
    std::unique_ptr<Sender> sender;
    ns3::Ptr<ns3::UniformRandomVariable> errors;    ///< of packets, whatever the signal
    ns3::Ptr<ns3::UniformRandomVariable> codewords; ///< of codewords, by the signal
    std::unique_ptr<Sky> sky;
    std::vector<CodewordLog> heard; ///< by receiver, of what this station sends
    LossCounts lost;
    bool outage{};
};

/// A terminal's way to the satellite and from it.
struct TerminalLink
{
    AdaptiveCoding forward;              ///< hub to terminal
    AdaptiveCoding back;                 ///< terminal to hub
    double forwardClearSky;              ///< Es/N0 at the terminal, dB
    double returnClearSky;               ///< Es/N0 at the hub, dB
    std::optional<double> delay;         ///< s; of the link when it has none of its own
    std::optional<double> packetErrorRate;
    std::optional<std::size_t> place; ///< among the terminals
    bool down{};
    std::uint64_t downs{};               ///< how often it was lost
};

} // namespace netboxit
