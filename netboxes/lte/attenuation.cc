// SPDX-License-Identifier: GPL-2.0-or-later
#include "attenuation.h"

#include "ns3/simulator.h"

namespace netboxit
{

namespace
{

/// Of a radio that is off, dB: with it the strongest sender beside the most sensitive receiver (parameters.py) is far below the noise.
constexpr double OFF = 400.0;

} // namespace

ns3::TypeId Attenuation::GetTypeId()
{
    static const auto id = ns3::TypeId("netboxit::Attenuation").SetParent<ns3::PropagationLossModel>();
    return id;
}

double Attenuation::Loss::At(double seconds) const
{
    return fade + (series ? series->At(seconds) : 0.0);
}

void Attenuation::Begin()
{
    m_began = ns3::Simulator::Now().GetNanoSeconds();
}

double Attenuation::Elapsed() const
{
    const auto now = ns3::Simulator::Now().GetNanoSeconds();
    return static_cast<double>(now - m_began.value_or(now)) / 1e9;
}

double Attenuation::FadeOf(const ns3::Ptr<ns3::MobilityModel>& antenna) const
{
    const auto found = m_losses.find(ns3::PeekPointer(antenna));
    return m_all.At(Elapsed()) + (found == m_losses.end() ? 0.0 : found->second.At(Elapsed()));
}

bool Attenuation::IsOff(const ns3::Ptr<ns3::MobilityModel>& antenna) const
{
    const auto found = m_losses.find(ns3::PeekPointer(antenna));
    return found != m_losses.end() && found->second.isOff;
}

double Attenuation::DoCalcRxPower(double power,
                                  ns3::Ptr<ns3::MobilityModel> a,
                                  ns3::Ptr<ns3::MobilityModel> b) const
{
    const double elapsed = Elapsed();
    power -= m_all.At(elapsed);
    for (const auto* end : {ns3::PeekPointer(a), ns3::PeekPointer(b)})
    {
        if (const auto found = m_losses.find(end); found != m_losses.end())
        {
            power -= found->second.At(elapsed) + (found->second.isOff ? OFF : 0.0);
        }
    }
    return power;
}

} // namespace netboxit
