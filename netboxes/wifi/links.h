// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "cell.h"

#include "ns3/event-id.h"
#include "ns3/mac48-address.h"

#include <set>

namespace netboxit
{

/// Who can be reached, announced when it changes. A station of an infrastructure cell is linked while it is associated, a mesh
/// point while it has a peer (both by ns-3's own beacons and frames). ns-3's ad hoc stations send no beacons: one is linked while
/// another one receives it strongly enough, fading aside, to detect a preamble.
class Links
{
  public:
    Links(const CellPlan& plan, const Cell& cell, Announcements& announcements);
    Links(const Links&) = delete;
    Links& operator=(const Links&) = delete;
    ~Links();

    bool IsUp(StationId station) const
    {
        return m_up[station];
    }

    /// Whether frames between the two have a way, as far as can be told.
    bool IsBetween(StationId a, StationId b) const;

    /// The mesh points with which this one has a link.
    const std::set<StationId>& PeersOf(StationId station) const
    {
        return m_peers[station];
    }

    /// The stations without a link.
    std::vector<Unlinked> Missing() const;

    /// Whether each station has its link, or has looked for one as long as that takes.
    bool HaveSettled() const;

    /// The network's time begins.
    void Begin();

    /// Stations moved, or their power changed.
    void Reconsider();

  private:
    void Associated(StationId station, ns3::Mac48Address accessPoint);
    void Disassociated(StationId station, ns3::Mac48Address accessPoint);
    void PeerOpened(StationId station, ns3::Mac48Address own, ns3::Mac48Address peer);
    void PeerClosed(StationId station, ns3::Mac48Address own, ns3::Mac48Address peer);
    template <typename Source>
    void Connect(const Source& connect);
    void Change(StationId station, bool up);
    void StopWaiting();
    const char* Reason() const;
    bool Hears(StationId receiver, StationId sender) const;
    std::optional<StationId> Find(const ns3::Mac48Address& address) const;

    const CellPlan& m_plan;
    const Cell& m_cell;
    Announcements& m_announcements;
    std::vector<bool> m_up;
    std::vector<std::set<StationId>> m_peers;
    ns3::EventId m_watch;
    ns3::EventId m_entry;
};

} // namespace netboxit
