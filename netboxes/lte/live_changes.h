// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "bearer_queues.h"
#include "network.h"
#include "terminal.h"

#include <memory>
#include <string_view>
#include <vector>

namespace netboxit
{

/// What can be changed while the segment runs: by netboxit set, and by events. The limits are those of parameters.py.
class LiveChanges
{
  public:
    /// All of it outlives this object; `terminals` by StationId, null for the gateway.
    LiveChanges(const std::vector<std::string>& stationNames,
                const std::vector<std::string>& cellNames,
                const LtePlan& plan,
                LteNetwork& network,
                const std::vector<std::unique_ptr<Terminal>>& terminals,
                BearerQueues& queues,
                Announcements& announcements);

    /// As Segment::Set.
    void Set(std::string_view name, const Json& value);

  private:
    void SetOfNetwork(std::string_view parameter, const Json& value);
    void SetOfTerminal(Terminal& terminal, std::string_view parameter, const Json& value);
    void SetOutage(const Json& value);
    void HandOver(Terminal& terminal, const Json& value);
    /// The cell's index by its eNodeB's name; throws OutOfRange, which says what for.
    std::size_t CellOf(const Json& name, std::string_view what) const;
    ns3::Vector PositionFrom(const Json& value) const;

    const std::vector<std::string>& m_names;
    const std::vector<std::string>& m_cellNames;
    const LtePlan& m_plan;
    LteNetwork& m_network;
    const std::vector<std::unique_ptr<Terminal>>& m_terminals;
    BearerQueues& m_queues;
    Announcements& m_announcements;
};

} // namespace netboxit
