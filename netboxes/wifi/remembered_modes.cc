// SPDX-License-Identifier: GPL-2.0-or-later
#include "remembered_modes.h"

#include "ns3/erp-ofdm-phy.h"
#include "ns3/ofdm-phy.h"

#include <array>

namespace netboxit
{

namespace
{

constexpr std::array<std::uint64_t, 8> RATES{
    6'000'000, 9'000'000, 12'000'000, 18'000'000, 24'000'000, 36'000'000, 48'000'000, 54'000'000};

/// ns-3's own answer for the width of channel that was asked about last.
template <typename Phy>
class DataRate
{
  public:
    explicit DataRate(const ns3::WifiMode& mode) : m_mode(mode)
    {
    }

    std::uint64_t operator()(const ns3::WifiTxVector& vector, std::uint16_t station)
    {
        if (vector.GetMode().GetUid() != m_mode.GetUid())
        {
            return Phy::GetDataRateFromTxVector(vector, station);
        }
        if (const auto width = vector.GetChannelWidth(); width != m_width)
        {
            m_width = width;
            m_rate = Phy::GetDataRateFromTxVector(vector, station);
        }
        return m_rate;
    }

  private:
    ns3::WifiMode m_mode;
    ns3::MHz_u m_width{0};
    std::uint64_t m_rate{0};
};

/// A mode that is created again keeps its number, and gets other answers.
template <typename Phy>
void Remember(const ns3::WifiMode& mode)
{
    const auto name = mode.GetUniqueName();
    ns3::WifiModeFactory::CreateWifiMode(
        name,
        mode.GetModulationClass(),
        mode.IsMandatory(),
        ns3::Callback<ns3::WifiCodeRate>([rate = Phy::GetCodeRate(name)] { return rate; }),
        ns3::Callback<std::uint16_t>([size = Phy::GetConstellationSize(name)] { return size; }),
        ns3::MakeCallback(&Phy::GetPhyRateFromTxVector),
        ns3::Callback<std::uint64_t, const ns3::WifiTxVector&, std::uint16_t>(DataRate<Phy>(mode)),
        ns3::MakeCallback(&Phy::IsAllowed));
}

} // namespace

void RememberModes()
{
    for (const auto rate : RATES)
    {
        Remember<ns3::OfdmPhy>(ns3::OfdmPhy::GetOfdmRate(rate));
        Remember<ns3::ErpOfdmPhy>(ns3::ErpOfdmPhy::GetErpOfdmRate(rate));
    }
}

} // namespace netboxit
