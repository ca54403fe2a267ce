// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "ns3/random-variable-stream.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace netboxit::wimax
{

/// Truncated binary exponential back-off over contention opportunities (6.3.8).
class Backoff
{
  public:
    Backoff(std::uint32_t startExponent,
            std::uint32_t endExponent,
            ns3::Ptr<ns3::UniformRandomVariable> random)
        : m_start(startExponent), m_end(endExponent), m_exponent(startExponent), m_random(std::move(random))
    {
    }

    /// The opportunity among the next `offered` in which to transmit, if the counter runs out among them.
    std::optional<std::uint32_t> Next(std::uint32_t offered)
    {
        if (!m_counter)
        {
            m_counter = m_random->GetInteger(0, (1U << m_exponent) - 1);
        }
        if (*m_counter >= offered)
        {
            *m_counter -= offered;
            return std::nullopt;
        }
        const auto chosen = *m_counter;
        m_counter.reset();
        return chosen;
    }

    /// The transmission brought no answer: the window doubles up to its end.
    void Fail()
    {
        m_exponent = std::min(m_exponent + 1, m_end);
        ++m_failures;
    }

    /// It did, or there is no more need: begin anew next time.
    void Reset()
    {
        m_exponent = m_start;
        m_failures = 0;
        m_counter.reset();
    }

    std::uint32_t Failures() const
    {
        return m_failures;
    }

  private:
    std::uint32_t m_start;
    std::uint32_t m_end;
    std::uint32_t m_exponent;
    std::uint32_t m_failures{};
    std::optional<std::uint32_t> m_counter;
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
};

} // namespace netboxit::wimax
