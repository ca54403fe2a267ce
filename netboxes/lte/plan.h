// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "attenuation.h"

#include "../engine/segment.h"

#include <optional>
#include <string>
#include <vector>

namespace netboxit
{

/// One eNodeB, with one cell.
struct EnodebPlan
{
    std::string name;
    Json position; ///< x, y, z in m, the antenna's height included
    double txPower{};
    bool ownTxPower{}; ///< said of this eNodeB, so that the segment's live parameter leaves it alone
    bool isOff{};
};

/// An EPS bearer that a UE has beside its default one (TS 23.401, 4.7.2), for the frames of one traffic class.
struct BearerPlan
{
    ClassId trafficClass{};
    std::string className;
    int qci{};
    double uplinkRate{};   ///< guaranteed, bit/s; 0 for a bearer without guarantee
    double downlinkRate{}; ///< the same from the core to the UE
    double uplinkMaximum{}; ///< bit/s; 0: no maximum
    double downlinkMaximum{};
    int arp{}; ///< priority level of allocation and retention, 1 is highest
};

struct StationPlan
{
    bool gateway{};
    Json place;          ///< `position`, `path`, `wander` as in parameters.py, the antenna's height included
    double distance{};   ///< m from the first eNodeB; holds when `place` says nothing
    double txPower{};    ///< dBm
    bool ownDistance{};  ///< said of this station, so that the segment's live parameter leaves it alone
    bool ownTxPower{};
    Attenuation::Loss loss;
    std::vector<BearerPlan> bearers;
};

/// The parameters of the segment; names and units are those of parameters.py.
struct LtePlan
{
    int resourceBlocks{};
    std::uint32_t downlinkEarfcn{};
    std::uint32_t uplinkEarfcn{};
    std::string scheduler;
    bool upholdGuarantees{};
    bool harq{};
    int transmissionMode{};
    std::string adaptation;
    std::string rlc;
    Json queue; ///< of each bearer, each way, as queue.py dumps it
    double antennaGain{};
    double terminalGain{};
    double noiseFigure{};
    double terminalNoiseFigure{};
    double enodebHeight{};
    double terminalHeight{};
    bool uplinkPowerControl{};
    std::string propagation;
    double pathLossExponent{};
    std::string environment;
    std::string fading;
    double doppler{}; ///< Hz
    Attenuation::Loss loss; ///< of all links
    std::string handover;
    double handoverHysteresis{};
    double timeToTrigger{};
    double coreDelay{};
    double x2Delay{};
    std::vector<EnodebPlan> enodebs;
    std::vector<StationPlan> stations; ///< by StationId
    StationId gateway{};

    LtePlan(const Json& parameters,
            const std::vector<std::string>& stationNames,
            const std::vector<std::string>& classNames);
};

} // namespace netboxit
