// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/segment.h"

#include "ns3/random-variable-stream.h"

#include <vector>

namespace netboxit::link
{

/// How a frame's delay differs from the link's: seconds around 0, from a distribution with a stated standard deviation, or from measured
/// values. Successive ones are correlated by a Gaussian copula: a stationary AR(1) sequence of normal numbers is mapped to the
/// distribution, which therefore keeps its shape whatever the correlation is (netem's own mixing does not).
class Jitter
{
  public:
    /// Three stream numbers from `stream` on.
    explicit Jitter(std::int64_t stream);

    /// As parameters.py dumps it; throws OutOfRange and then changes nothing.
    void Set(const Json& value);

    bool IsNone() const
    {
        return m_kind == Kind::Constant;
    }

    /// Whether a frame may overtake another that has a longer delay.
    bool MayReorder() const
    {
        return m_mayReorder;
    }

    /// The next frame's, s.
    double Draw();

  private:
    enum class Kind
    {
        Constant,
        Uniform,
        Normal,
        Pareto,
        ParetoNormal,
        Table
    };

    /// A sequence of standard normal numbers, each correlated with the last.
    class Gaussian
    {
      public:
        explicit Gaussian(std::int64_t stream);
        double Draw(double correlation);

      private:
        ns3::Ptr<ns3::NormalRandomVariable> m_random;
        double m_last{0};
        bool m_begun{false};
    };

    double UniformDraw();
    double ParetoDraw();
    double TableDraw();

    Gaussian m_first;
    Gaussian m_second;
    ns3::Ptr<ns3::UniformRandomVariable> m_uniform;
    Kind m_kind{Kind::Constant};
    bool m_mayReorder{false};
    double m_deviation{0};
    double m_shape{3};
    double m_correlation{0};
    std::vector<double> m_table; ///< rising
};

} // namespace netboxit::link
