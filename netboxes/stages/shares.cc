// SPDX-License-Identifier: GPL-2.0-or-later
#include "shares.h"

#include <algorithm>
#include <cmath>

namespace netboxit::stages
{

Shares::Shares(double rate, Reallocation reallocation)
    : m_rate(rate),
      m_reallocation(reallocation)
{
}

void Shares::SetRate(double rate)
{
    m_rate = rate;
}

void Shares::Join(const Flow& flow)
{
    ++(flow.isGood ? m_good : m_bad);
    m_free += flow.isGood ? 0 : flow.free;
}

void Shares::Leave(const Flow& flow)
{
    --(flow.isGood ? m_good : m_bad);
    m_free -= flow.isGood ? 0 : flow.free;
    if (m_bad == 0)
    {
        m_free = 0; // rounding errors do not accumulate
    }
}

double Shares::Base() const
{
    return m_rate / std::max(m_good + m_bad, 1U);
}

double Shares::OfGoodFlow() const
{
    return Base() + m_free / std::max(m_good, 1U);
}

double Shares::Window(const Flow& flow, const Path& path) const
{
    const auto share = flow.isGood || m_reallocation == Reallocation::Literal ? OfGoodFlow() : Base();
    return std::max(share, 0.0) * path.exploitation * path.rtt;
}

std::optional<double> Shares::Judge(Flow& flow, double current, const Path& path)
{
    switch (m_reallocation)
    {
    case Reallocation::Literal:
        return JudgeLiterally(flow, current, path);
    case Reallocation::Base:
        return JudgeByBase(flow, current, path);
    case Reallocation::None:
        break;
    }
    const auto window = Window(flow, path);
    return current > window ? std::optional(window) : std::nullopt;
}

void Shares::BecomeBad(Flow& flow, double left)
{
    if (flow.isGood)
    {
        flow.isGood = false;
        --m_good;
        ++m_bad;
    }
    m_free += left - flow.free;
    flow.free = left;
}

void Shares::BecomeGood(Flow& flow)
{
    flow.isGood = true;
    ++m_good;
    --m_bad;
    m_free -= flow.free;
}

/// Figures 2 to 4 of the paper as they are printed. `free` is payload here. A flow that becomes good keeps its old `flow.free`, which is
/// subtracted once more when it becomes bad again. Undefined there and so chosen: equality leaves a bad flow as it is, and without a good
/// flow nobody gets a bonus.
std::optional<double> Shares::JudgeLiterally(Flow& flow, double current, const Path& path)
{
    const auto bonus = m_good == 0 ? 0.0 : std::floor(m_free * path.rtt * path.exploitation / m_good);
    const auto window = std::floor(Base() * path.rtt * path.exploitation) + bonus;
    if (current < window)
    {
        BecomeBad(flow, (window - current) / path.rtt);
        return std::nullopt;
    }
    if (!flow.isGood && current > window)
    {
        BecomeGood(flow);
    }
    return flow.isGood ? std::optional(std::max(window, 0.0)) : std::nullopt;
}

/// `free` is bandwidth of the link, with headers: what a window takes of the link is current/(rtt*c). The paper subtracts payload, to which
/// Eq. 2 then applies `c` a second time: a part 1-c of the bandwidth that was left would stay unused.
std::optional<double> Shares::JudgeByBase(Flow& flow, double current, const Path& path)
{
    const auto taken = current / (path.rtt * path.exploitation);
    // A bad flow becomes good when its window exceeds the share that it would get then.
    const auto share = flow.isGood ? OfGoodFlow() : Base() + (m_free - flow.free) / (m_good + 1);
    if (flow.isGood ? taken < share : taken <= share)
    {
        BecomeBad(flow, Base() - taken);
        return std::nullopt;
    }
    if (!flow.isGood)
    {
        BecomeGood(flow);
        flow.free = 0;
        if (m_bad == 0)
        {
            m_free = 0;
        }
    }
    return std::min(Window(flow, path), current);
}

} // namespace netboxit::stages
