// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "guarantee.h"
#include "interposed_scheduler.h"

#include <array>
#include <functional>
#include <map>

namespace netboxit
{

/// Upholds guaranteed bit rates, which ns-3's schedulers do not: of them pss alone looks at guarantees, in the downlink, and the uplink is
/// round robin with all. In a subframe in which a guaranteed bearer has waited too long (Guarantee::IsUrgent) the scheduler is shown the
/// queues of the urgent bearers of the highest precedence only, and gives them all resource blocks. In other subframes it sees everything.
///
/// It also withholds allocations that are too small for ns-3's acknowledged RLC, which aborts on them.
class GuaranteeingScheduler : public InterposedScheduler
{
  public:
    /// The precedence of a bearer by the UE's RNTI and the logical channel.
    using PrecedenceOf = std::function<int(std::uint16_t rnti, std::uint8_t channel)>;

    static ns3::TypeId GetTypeId();

    /// Tells the allocation and retention priority of bearers that are set up from now on.
    void SetArp(PrecedenceOf arp)
    {
        m_arp = std::move(arp);
    }

  private:
    /// One logical channel in the downlink.
    struct Channel
    {
        BufferReport report; ///< the latest, less what was served since
        Guarantee guarantee;
        bool isHidden{};
    };

    /// One UE in the uplink, as its buffer status reports show it: by logical channel group, 1 for guaranteed bearers, 2 for others.
    struct Terminal
    {
        std::array<std::uint64_t, 4> waiting{}; ///< bytes
        Guarantee guarantee;                    ///< of all its guaranteed bearers together
        std::size_t channels{};
        enum class Shown
        {
            All,
            Guaranteed,
            Nothing,
        } shown{Shown::All};
    };

    void Configures(ChannelConfiguration& channels) override;
    void ReleasesChannel(std::uint16_t rnti, std::uint8_t channel) override;
    void ReleasesTerminal(std::uint16_t rnti) override;
    void Reports(const BufferReport& report) override;
    void ReportsUplink(const ControlReport& report) override;
    void BeforeDownlink() override;
    void BeforeUplink() override;
    void Granted(DownlinkGrants& downlink) override;
    void Granted(UplinkGrants& uplink) override;
    void Show(std::uint16_t rnti, const Terminal& terminal);

    bool m_acknowledged{};
    bool m_upholds{};
    PrecedenceOf m_arp;
    std::map<std::pair<std::uint16_t, std::uint8_t>, Channel> m_channels; ///< by RNTI and channel
    std::map<std::uint16_t, Terminal> m_terminals;                        ///< by RNTI
    bool m_hasGuarantees{};
    bool m_exclusiveDownlink{}; ///< in this subframe some stand back
};

} // namespace netboxit
