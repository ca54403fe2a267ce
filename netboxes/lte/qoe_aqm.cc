// SPDX-License-Identifier: GPL-2.0-or-later
#include "qoe_aqm.h"

#include "voice_quality.h"

namespace netboxit
{

namespace
{

/// Arrivals of which one estimate is made (section 5.3.1).
constexpr std::uint64_t WINDOW = 10;

} // namespace

QoeAqm::QoeAqm(queueing::Room room, Settings settings, queueing::DropCallback dropped, BearerView bearer)
    : BearerDiscipline(room,
                       [this, dropped = std::move(dropped)](const queueing::Waiting& frame, Loss reason) {
                           m_losses.Dropped();
                           dropped(frame, reason);
                       },
                       std::move(bearer)),
      m_settings(settings), m_losses(settings.lossWindow), m_score(OpinionScore(settings.pathDelay, 0.0))
{
}

void QoeAqm::Enqueue(const queueing::Waiting& frame, std::int64_t now, double rate)
{
    m_losses.Arrives();
    m_kingman.Arrives(now);
    Fifo::Enqueue(frame, now, rate);
    ++m_arrivals;
    if (m_arrivals % WINDOW == 0)
    {
        Estimate(now);
    }
    if (m_arrivals % m_settings.checkEvery == 0)
    {
        m_score = OpinionScore(m_wait + m_settings.pathDelay, m_losses.Share());
        if (m_score > m_settings.scoreMin && m_score < m_settings.scoreMax)
        {
            DropSecond();
        }
    }
}

void QoeAqm::Left(std::int64_t since, std::int64_t now)
{
    m_kingman.Leaves(since, now);
}

void QoeAqm::Estimate(std::int64_t now)
{
    const auto estimate = m_kingman.Take();
    const bool isSaturated = !estimate || !estimate->wait;
    m_wait = isSaturated ? Waited(now) : *estimate->wait;
    ++(isSaturated ? m_saturated : m_estimates);
}

double QoeAqm::Waited(std::int64_t now) const
{
    const auto head = Bearer().head();
    return head ? static_cast<double>(now - head->since) / 1e9 : 0.0;
}

Json QoeAqm::Read(std::int64_t) const
{
    return {{"score", m_score}, {"estimates", m_estimates}, {"saturated", m_saturated}};
}

void QoeAqm::ResetStatistics()
{
    m_estimates = m_saturated = 0;
}

} // namespace netboxit
