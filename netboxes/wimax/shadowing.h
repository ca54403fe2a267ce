// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/random-variable-stream.h"
#include "ns3/vector.h"

#include <cmath>
#include <optional>

namespace netboxit::wimax
{

/// Log-normal shadowing of one link: a Gaussian loss in dB, the same in both directions, whose correlation decays
/// exponentially with the way that the station goes (M. Gudmundson, "Correlation model for shadow fading in mobile
/// radio systems", Electronics Letters 27(23), 1991).
class Shadowing
{
  public:
    Shadowing(double deviationDb, double correlationM, std::int64_t stream)
        : m_deviationDb(deviationDb), m_correlationM(correlationM),
          m_random(ns3::CreateObject<ns3::NormalRandomVariable>())
    {
        m_random->SetStream(stream);
    }

    /// The loss of a station that is now at `position`.
    double LossDb(const ns3::Vector& position)
    {
        if (m_deviationDb == 0.0)
        {
            return 0.0;
        }
        const double way = m_position ? ns3::CalculateDistance(*m_position, position) : INFINITY;
        if (way > 0.0)
        {
            const double kept = std::exp(-way / m_correlationM);
            m_lossDb = kept * m_lossDb + std::sqrt(1.0 - kept * kept) * m_deviationDb * m_random->GetValue();
            m_position = position;
        }
        return m_lossDb;
    }

  private:
    double m_deviationDb;
    double m_correlationM;
    ns3::Ptr<ns3::NormalRandomVariable> m_random;
    std::optional<ns3::Vector> m_position;
    double m_lossDb{};
};

} // namespace netboxit::wimax
