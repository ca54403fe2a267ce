// SPDX-License-Identifier: GPL-2.0-or-later
#include "channels.h"

#include <utility>

namespace netboxit::queueing::tempest
{

Channels::Channels(std::vector<double> losses, const TwoStates& states, unsigned seed)
    : m_losses(std::move(losses)), m_states(states), m_random(seed)
{
    if (Change())
    {
        for (auto& loss : m_losses)
        {
            loss = std::bernoulli_distribution(0.5)(m_random) ? m_states.good : m_states.bad;
        }
    }
}

void Channels::Step()
{
    if (!Change())
    {
        return;
    }
    std::bernoulli_distribution changes(1 / m_states.dwell);
    for (auto& loss : m_losses)
    {
        if (changes(m_random))
        {
            loss = loss == m_states.good ? m_states.bad : m_states.good;
        }
    }
}

} // namespace netboxit::queueing::tempest
