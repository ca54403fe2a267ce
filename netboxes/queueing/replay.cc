// SPDX-License-Identifier: GPL-2.0-or-later
/// Recorded arrivals through a discipline in front of a token bucket, to compare it with another implementation that had them
/// (tests/guest/test_kernel_queues.py). Standard input has {queue, rate, burst, peeks, seed, arrivals: [[ns, bytes, line], …]}, standard
/// output {sent: [[arrival, ns], …], dropped: [[arrival, ns], …]}; an arrival is told by its number, from 0.
#include "make_discipline.h"

#include <iostream>
#include <random>

using namespace netboxit;
using namespace netboxit::queueing;

namespace
{

struct Arrival
{
    std::int64_t at;
    std::uint32_t bytes;
    std::uint32_t line; ///< its flow, and its traffic class
};

/// What the token bucket does with the next packet while it has not the tokens for it, as Linux's sch_tbf.
enum class Peek
{
    Takes, ///< has the discipline decide, and holds the packet (qdisc_peek_dequeued)
    Looks  ///< leaves it in the queue (qdisc_peek_head)
};

/// Tokens are told in the time in which they come, ns.
class TokenBucket
{
  public:
    explicit TokenBucket(const Json& input)
        : m_rate(input.at("rate")), m_full(TimeOf(input.at("burst"))), m_tokens(m_full), m_random(input.at("seed").get<unsigned>()),
          m_peek(input.at("peeks") == "takes" ? Peek::Takes : Peek::Looks),
          m_discipline(MakeDiscipline(
              input.at("queue"),
              [this] { return std::uniform_real_distribution{}(m_random); },
              [this](const Waiting& frame, Loss) { m_dropped.push_back({frame.item, m_now}); },
              [](const Waiting&, Mark) { return false; })) // no packet is capable of ECN
    {
    }

    void Enqueue(std::uint32_t number, const Arrival& arrival)
    {
        SendUntil(arrival.at);
        m_now = arrival.at;
        m_discipline->Enqueue({number, arrival.bytes, m_now, arrival.line, static_cast<ClassId>(arrival.line)}, m_now, m_rate);
        SendUntil(m_now);
    }

    /// Sends what tokens come for until then.
    void SendUntil(std::int64_t end)
    {
        for (auto bytes = NextBytes(); bytes > 0; bytes = NextBytes())
        {
            const auto price = TimeOf(bytes);
            const auto there = std::min(m_full, m_tokens + m_now - m_counted);
            const auto at = m_now + std::max(std::int64_t{0}, price - there);
            if (at > end)
            {
                return;
            }
            m_tokens = there + (at - m_now) - price;
            m_now = m_counted = at;
            if (const auto frame = m_held ? std::exchange(m_held, std::nullopt) : m_discipline->Dequeue(m_now))
            {
                m_sent.push_back({frame->item, m_now});
            }
        }
    }

    Json Outcome() const
    {
        return {{"sent", m_sent}, {"dropped", m_dropped}};
    }

  private:
    using Told = std::pair<std::uint32_t, std::int64_t>;

    std::int64_t TimeOf(std::uint32_t bytes) const
    {
        return std::llround(8e9 * bytes / m_rate);
    }

    /// Of the packet that goes next; 0 where none waits.
    std::uint32_t NextBytes()
    {
        if (m_peek == Peek::Looks)
        {
            return m_discipline->FirstBytes();
        }
        if (!m_held)
        {
            m_held = m_discipline->Dequeue(m_now);
        }
        return m_held ? m_held->bytes : 0;
    }

    double m_rate; ///< bit/s
    std::int64_t m_full;
    std::int64_t m_tokens;     ///< when they were counted
    std::int64_t m_counted{0};
    std::int64_t m_now{0};
    std::mt19937_64 m_random;
    Peek m_peek;
    std::optional<Waiting> m_held;
    std::vector<Told> m_sent;
    std::vector<Told> m_dropped;
    std::unique_ptr<Discipline> m_discipline;
};

} // namespace

int main()
{
    const auto input = Json::parse(std::cin);
    TokenBucket bucket(input);
    std::uint32_t number = 0;
    for (const auto& [at, bytes, line] : input.at("arrivals").get<std::vector<std::tuple<std::int64_t, std::uint32_t, std::uint32_t>>>())
    {
        bucket.Enqueue(number++, {at, bytes, line});
    }
    bucket.SendUntil(std::numeric_limits<std::int64_t>::max());
    std::cout << bucket.Outcome().dump() << '\n';
    return 0;
}
