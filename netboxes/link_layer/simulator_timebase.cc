// SPDX-License-Identifier: GPL-2.0-or-later
#include "simulator_timebase.h"

#include "ns3/event-impl.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <optional>

namespace netboxit::multiservice
{

namespace
{

std::int64_t SimulatedNow()
{
    return ns3::Simulator::Now().GetNanoSeconds();
}

class SimulatorAlarm : public Alarm
{
  public:
    explicit SimulatorAlarm(std::function<void()> call) : m_call(std::move(call)), m_ring(ns3::Create<Ring>(*this))
    {
    }

    ~SimulatorAlarm() override
    {
        m_ring->Cancel();
    }

    void Set(std::int64_t time) override
    {
        const auto now = SimulatedNow();
        m_due = std::max(time, now);
        ns3::Simulator::Schedule(ns3::NanoSeconds(*m_due - now), m_ring);
    }

    void Cancel() override
    {
        m_due.reset();
    }

  private:
    class Ring : public ns3::EventImpl
    {
      public:
        explicit Ring(SimulatorAlarm& alarm) : m_alarm(alarm)
        {
        }

      private:
        void Notify() override
        {
            m_alarm.OnRing();
        }

        SimulatorAlarm& m_alarm;
    };

    void OnRing()
    {
        if (!m_due || SimulatedNow() < *m_due)
        {
            return; // it was set to another time since, or to none
        }
        m_due.reset();
        m_call();
    }

    std::function<void()> m_call;
    ns3::Ptr<Ring> m_ring;
    std::optional<std::int64_t> m_due;
};

} // namespace

std::int64_t SimulatorTimebase::Now() const
{
    return SimulatedNow();
}

std::unique_ptr<Alarm> SimulatorTimebase::MakeAlarm(std::function<void()> call)
{
    return std::make_unique<SimulatorAlarm>(std::move(call));
}

} // namespace netboxit::multiservice
