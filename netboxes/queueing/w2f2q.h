// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "wf2q_plus.h"

#include <functional>

namespace netboxit::queueing
{

/// W2F2Q as Grazia compares it (4.2.5): WF2Q+ in which a line whose channel loses too much has the weight 0, and the others have theirs. The
/// two-state model of each line's channel and the compensation of the original are replaced by this threshold there.
///
/// A line of weight 0 sends while no other one has something; several share that time by their own weights. After each packet the channels
/// of all lines are looked at, so the time of a packet grows with the number of lines.
class W2f2q : public WeightedScheduler
{
  public:
    /// The share of packets that a line's channel loses now, 0 to 1.
    using Loss = std::function<double(LineId line)>;

    /// A channel that loses more than `most` is bad.
    W2f2q(const Weights& weights, Loss loss, double most);

    void Begin(LineId line, std::uint32_t bytes) override;
    LineId Next() override;
    void Sent(LineId line, std::uint32_t bytes, std::uint32_t following) override;
    void TakenOut(LineId line, std::uint32_t following) override;
    void Weigh(LineId line, std::uint32_t weight) override;

  private:
    struct State
    {
        std::uint32_t bytes{0}; ///< of its first packet; 0: it has none
        bool isBad{false};      ///< as long as it has a packet
    };

    Wf2qPlus& Of(LineId line)
    {
        return m_lines[line].isBad ? m_bad : m_good;
    }

    void Join(LineId line, std::uint32_t bytes);
    void Follows(LineId line, std::uint32_t following);
    void LookAtChannels();

    Loss m_loss;
    double m_most;
    std::vector<State> m_lines;
    std::size_t m_goodLines{0}; ///< that have something
    Wf2qPlus m_good;
    Wf2qPlus m_bad;
};

} // namespace netboxit::queueing
