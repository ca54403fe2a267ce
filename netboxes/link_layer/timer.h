// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace netboxit::multiservice
{

/// A call at a time, of whoever hosts the link layer.
class Alarm
{
  public:
    virtual ~Alarm() = default;
    /// Calls at this time (ns) instead of any time before. A time that is over: as soon as possible, not within this call.
    virtual void Set(std::int64_t time) = 0;
    virtual void Cancel() = 0;
};

/// The time of whoever hosts the link layer: simulated, virtual or real.
class Timebase
{
  public:
    virtual ~Timebase() = default;
    /// ns; does not fall.
    virtual std::int64_t Now() const = 0;
    /// An alarm that is not set. It does not outlive the timebase.
    virtual std::unique_ptr<Alarm> MakeAlarm(std::function<void()> call) = 0;
};

/// A timer that is started much more often than it expires: starting it anew for a later time costs a comparison. The alarm
/// then comes early, and is set again.
class Timer
{
  public:
    Timer(Timebase& timebase, std::function<void()> expired)
        : m_timebase(timebase),
          m_expired(std::move(expired)),
          m_alarm(timebase.MakeAlarm([this] { Ring(); }))
    {
    }

    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    bool IsRunning() const
    {
        return m_isRunning;
    }

    /// Expires at this time (ns), and not when it would have otherwise.
    void StartAt(std::int64_t time)
    {
        m_isRunning = true;
        m_expiry = time;
        if (!m_isSet || m_expiry < m_set)
        {
            SetAlarm();
        }
    }

    /// `after`: ns from now.
    void Start(std::int64_t after)
    {
        StartAt(m_timebase.Now() + after);
    }

    void Stop()
    {
        m_isRunning = false;
    }

  private:
    void SetAlarm()
    {
        m_isSet = true;
        m_set = m_expiry;
        m_alarm->Set(m_expiry);
    }

    void Ring()
    {
        m_isSet = false;
        if (!m_isRunning)
        {
            return;
        }
        if (m_expiry > m_timebase.Now())
        {
            SetAlarm();
            return;
        }
        m_isRunning = false;
        m_expired();
    }

    Timebase& m_timebase;
    std::function<void()> m_expired;
    std::unique_ptr<Alarm> m_alarm;
    std::int64_t m_expiry{};
    std::int64_t m_set{};
    bool m_isRunning{};
    bool m_isSet{};
};

} // namespace netboxit::multiservice
