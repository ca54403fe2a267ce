// SPDX-License-Identifier: GPL-2.0-or-later
#include "rate_control.h"

#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <map>

namespace netboxit
{

namespace
{

bool IsDsss(double rate)
{
    return rate == 1e6 || rate == 2e6 || rate == 5.5e6 || rate == 11e6;
}

/// ns-3's name of the fixed mode that `rate` or `mcs` stands for.
std::string DataMode(const CellPlan& plan)
{
    if (plan.IsLegacy())
    {
        const auto family = IsDsss(plan.rate) ? "DsssRate" : plan.standard == "802.11g" ? "ErpOfdmRate" : "OfdmRate";
        return family + (plan.rate == 5.5e6 ? "5_5" : std::to_string(std::lround(plan.rate / 1e6))) + "Mbps";
    }
    const auto family = plan.standard == "802.11n"    ? "HtMcs"
                        : plan.standard == "802.11ac" ? "VhtMcs"
                                                      : "HeMcs";
    return family + std::to_string(plan.mcs);
}

/// Of RTS frames: the most robust one that every station of the band understands.
std::string ControlMode(const CellPlan& plan)
{
    if (plan.standard == "802.11b")
    {
        return "DsssRate1Mbps";
    }
    return plan.band < 3e9 ? "ErpOfdmRate6Mbps" : "OfdmRate6Mbps";
}

} // namespace

ns3::WifiStandard StandardOf(const CellPlan& plan)
{
    static const std::map<std::string, ns3::WifiStandard> STANDARDS{
        {"802.11a", ns3::WIFI_STANDARD_80211a},
        {"802.11b", ns3::WIFI_STANDARD_80211b},
        {"802.11g", ns3::WIFI_STANDARD_80211g},
        {"802.11n", ns3::WIFI_STANDARD_80211n},
        {"802.11ac", ns3::WIFI_STANDARD_80211ac},
        {"802.11ax", ns3::WIFI_STANDARD_80211ax},
    };
    return STANDARDS.at(plan.standard);
}

ns3::ObjectFactory RateControlOf(const CellPlan& plan)
{
    ns3::ObjectFactory factory;
    if (plan.rateControl == "constant")
    {
        factory.SetTypeId("ns3::ConstantRateWifiManager");
        factory.Set("DataMode", ns3::StringValue(DataMode(plan)), "ControlMode", ns3::StringValue(ControlMode(plan)));
    }
    else
    {
        const std::map<std::string, std::string> managers{
            {"ideal", "ns3::IdealWifiManager"},
            {"minstrel", plan.IsLegacy() ? "ns3::MinstrelWifiManager" : "ns3::MinstrelHtWifiManager"},
            {"arf", "ns3::ArfWifiManager"},
            {"aarf", "ns3::AarfWifiManager"},
        };
        factory.SetTypeId(managers.at(plan.rateControl));
    }
    factory.Set("RtsCtsThreshold", ns3::UintegerValue(plan.rtsThreshold));
    return factory;
}

} // namespace netboxit
