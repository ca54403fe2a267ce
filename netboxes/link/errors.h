// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "ns3/random-variable-stream.h"

namespace netboxit::link
{

/// Gilbert's and Elliott's channel (Bell System Technical Journal 39, 1960, and 42, 1963; here as in Hasslinger and Hohlfeld, 2008): two states,
/// left with each frame by a probability, and a probability of loss in each. With both states alike, losses are independent.
class GilbertElliott
{
  public:
    explicit GilbertElliott(std::int64_t stream);

    /// As parameters.py dumps it.
    void Set(const Json& value);
    /// Whether the next frame is lost.
    bool IsLost();
    /// Whether it is lost when losses are independent and this probable: what a trace says instead of the states.
    bool IsLost(double probability);

  private:
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
    double m_goodToBad{0};
    double m_badToGood{1};
    double m_lossInGood{0};
    double m_lossInBad{0};
    bool m_bad{false};
};

/// Independent bit errors. What is drawn are the distances between them, so a frame without any costs a subtraction.
class BitErrors
{
  public:
    explicit BitErrors(std::int64_t stream);

    void SetRate(double rate);

    /// Whether a frame of so many bits is hit; with `bytes`, its bits are inverted there (the first bit is the highest of the first byte).
    bool Hit(std::uint64_t bits, std::span<std::uint8_t> bytes);

    bool IsNone() const
    {
        return m_rate == 0;
    }

  private:
    std::uint64_t Distance();

    ns3::Ptr<ns3::UniformRandomVariable> m_random;
    double m_rate{0};
    std::uint64_t m_next{0}; ///< correct bits before the next error
};

} // namespace netboxit::link
