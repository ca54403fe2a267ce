// SPDX-License-Identifier: GPL-2.0-or-later
#include "w2f2q.h"

namespace netboxit::queueing
{

W2f2q::W2f2q(const Weights& weights, Loss loss, double most)
    : m_loss(std::move(loss)), m_most(most), m_lines(weights.size()), m_good(weights), m_bad(weights)
{
}

void W2f2q::Begin(LineId line, std::uint32_t bytes)
{
    Join(line, bytes);
}

LineId W2f2q::Next()
{
    return m_goodLines > 0 ? m_good.Next() : m_bad.Next();
}

void W2f2q::Sent(LineId line, std::uint32_t bytes, std::uint32_t following)
{
    Of(line).Sent(line, bytes, following);
    Follows(line, following);
    LookAtChannels();
}

void W2f2q::TakenOut(LineId line, std::uint32_t following)
{
    Of(line).TakenOut(line, following);
    Follows(line, following);
}

void W2f2q::Weigh(LineId line, std::uint32_t weight)
{
    m_good.Weigh(line, weight);
    m_bad.Weigh(line, weight);
}

void W2f2q::Join(LineId line, std::uint32_t bytes)
{
    m_lines[line] = {bytes, m_loss(line) > m_most};
    m_goodLines += m_lines[line].isBad ? 0 : 1;
    Of(line).Begin(line, bytes);
}

void W2f2q::Follows(LineId line, std::uint32_t following)
{
    auto& state = m_lines[line];
    state.bytes = following;
    m_goodLines -= following == 0 && !state.isBad ? 1 : 0;
}

void W2f2q::LookAtChannels()
{
    for (LineId line = 0; line < m_lines.size(); ++line)
    {
        const auto bytes = m_lines[line].bytes;
        if (bytes > 0 && m_lines[line].isBad != (m_loss(line) > m_most))
        {
            TakenOut(line, 0);
            Join(line, bytes);
        }
    }
}

} // namespace netboxit::queueing
