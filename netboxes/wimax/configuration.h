// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"
#include "../engine/timeline.h"
#include "frame_layout.h"
#include "link_budget.h"
#include "service_flow.h"

#include <optional>
#include <string>
#include <vector>

namespace netboxit::wimax
{

struct StationConfiguration
{
    std::string name;
    bool base{};
    double antennaGainDbi{};
    std::optional<double> distanceM;  ///< subscribers: to the base station, when not the cell's
    std::optional<double> txPowerDbm; ///< when not the cell's
    double fadeDb{};                  ///< subscribers: of its link, beside the cell's
    std::optional<Timeline> fadeSeries;
};

/// The connections between one subscriber and the base station in one direction: one a declared flow, and an
/// implicit one of best effort.
struct FlowTable
{
    std::vector<ServiceFlow> flows;
    std::vector<std::size_t> byClass; ///< index into `flows`, by ClassId
};

/// When the grants of a map take effect (6.3.7.5): in the uplink subframe of its own frame, or of the next
/// one.
enum class MapRelevance
{
    SameFrame,
    NextFrame
};

/// The exponents of the contention windows, and how often a request is repeated (6.3.8, 10.1).
struct ContentionParameters
{
    std::uint32_t backoffStart{};
    std::uint32_t backoffEnd{};
    ns3::Time requestTimeout; ///< T16: without a grant for so long a request is taken for lost
};

/// The parameters of a cell as the engine hands them over, checked.
struct Configuration
{
    /// Throws std::invalid_argument with a message for the user.
    explicit Configuration(const SegmentSetup& setup);

    FlowTable FlowsOf(const std::string& station, Direction direction) const;
    double DistanceM(const StationConfiguration& station) const
    {
        return station.distanceM.value_or(distanceM);
    }
    double TxPowerDbm(const StationConfiguration& station) const
    {
        return station.txPowerDbm.value_or(txPowerDbm);
    }

    std::vector<StationConfiguration> stations; ///< by StationId
    std::vector<std::string> classes;           ///< by ClassId
    StationId base{};
    double distanceM{};
    double txPowerDbm{};
    double fadeDb{};
    std::optional<Timeline> fadeSeries;
    double shadowingDb{};
    double shadowingCorrelationM{};
    RadioParameters radio;
    Numerology numerology;
    FrameLayout::Parameters frame;
    MapRelevance mapRelevance{};
    ContentionParameters contention;
    SnrThresholds receiverSnrDb;
    std::optional<ProfileId> fixedProfile; ///< nothing: chosen by SNR
    double hysteresisDb{};
    Json queue;               ///< of connections that do not say otherwise, as queue.py dumps it
    Carriage carriage;        ///< of connections that do not say otherwise
    std::size_t scheduler{};  ///< index in SCHEDULER_NAMES
    bool perConnection{};     ///< a grant is for the connection it was made for, and for no other of its station

  private:
    struct DeclaredFlow
    {
        ServiceFlow flow;
        std::optional<std::string> station;
    };

    void ReadStations(const SegmentSetup& setup);
    void ReadFlows(const Json& flows);
    DeclaredFlow ReadFlow(const Json& flow) const;
    void RefuseDuplicates() const;

    std::vector<DeclaredFlow> m_declared;
};

} // namespace netboxit::wimax
