// SPDX-License-Identifier: GPL-2.0-or-later
#include "realtime_thread.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <fstream>
#include <linux/capability.h>

namespace netboxit
{

namespace
{

/// Of the ration that the kernel grants in each period: what is used steadily, and what may be used in a
/// burst. Together they stay below the ration in every period, with something left for inexact accounts.
constexpr double STEADY = 0.80;
constexpr double BURST = 0.15;
/// Spinning may save up a tenth of a second's share.
constexpr double SPIN_BURST_S = 0.1;
constexpr double NS = 1e9;

/// Share of a core that real-time threads of this container may take.
double Ration(const RealtimeConfiguration& configuration)
{
    if (configuration.runtimeUs)
    {
        return static_cast<double>(*configuration.runtimeUs) / 1e6;
    }
    double runtime = 950'000; // the kernel's default, should /proc not tell
    double period = 1'000'000;
    std::ifstream("/proc/sys/kernel/sched_rt_runtime_us") >> runtime;
    std::ifstream("/proc/sys/kernel/sched_rt_period_us") >> period;
    return runtime < 0 ? 1.0 : runtime / period;
}

/// Without the capability a small amount could be locked, and the first allocation beyond it would fail.
bool MayLockMemory()
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct capabilities[_LINUX_CAPABILITY_U32S_3]{};
    return syscall(SYS_capget, &header, capabilities) == 0 &&
           (capabilities[0].effective & 1u << CAP_IPC_LOCK) != 0;
}

std::int64_t CpuTime()
{
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

} // namespace

RealtimeThread::RealtimeThread(const RealtimeConfiguration& configuration)
    : m_configuration(configuration),
      m_ration(STEADY * Ration(configuration),
               static_cast<std::int64_t>(BURST * Ration(configuration) *
                                         static_cast<double>(configuration.periodUs) * 1000)),
      m_spinning(configuration.spinShare,
                 static_cast<std::int64_t>(SPIN_BURST_S * configuration.spinShare * NS)),
      m_lastCpu(CpuTime())
{
    if (prctl(PR_SET_TIMERSLACK, configuration.timerSlackNs) != 0)
    {
        m_reasons.push_back(std::string("timer slack: ") + std::strerror(errno));
    }
    if (!MayLockMemory())
    {
        m_reasons.push_back("memory is not locked: it takes CAP_IPC_LOCK");
    }
    else if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
    {
        m_reasons.push_back(std::string("memory is not locked: ") + std::strerror(errno));
    }
    AskForFifo();
}

void RealtimeThread::AskForFifo()
{
    const auto priority = m_configuration.priority;
    if (priority == 0)
    {
        m_reasons.push_back("SCHED_FIFO was not asked for (priority 0)");
    }
    else if (m_configuration.runtimeUs == 0)
    {
        m_reasons.push_back(
            "SCHED_FIFO was not asked for: the container is granted no real-time CPU time (runtime_us 0)");
    }
    else if (!SetClass(SCHED_FIFO, priority))
    {
        m_reasons.push_back("SCHED_FIFO priority " + std::to_string(priority) +
                            " was refused: " + std::strerror(errno) +
                            " (it takes CAP_SYS_NICE, and cpu.rt_runtime_us above 0 in the cpu cgroup)");
    }
    else
    {
        m_granted = m_fifo = true;
    }
}

bool RealtimeThread::SetClass(int policy, int priority) const
{
    const sched_param parameters{priority};
    return sched_setscheduler(0, policy, &parameters) == 0;
}

void RealtimeThread::Account(std::int64_t now)
{
    const auto cpu = CpuTime();
    m_ration.Flow(now - m_lastNow);
    m_spinning.Flow(now - m_lastNow);
    if (m_fifo)
    {
        m_ration.Spend(cpu - m_lastCpu);
    }
    m_lastNow = now;
    m_lastCpu = cpu;
    if (m_fifo && m_ration.IsEmpty())
    {
        m_fifo = !SetClass(SCHED_OTHER, 0);
        ++m_steppedBack;
    }
    else if (m_granted && !m_fifo && m_ration.IsHalfFull())
    {
        m_fifo = SetClass(SCHED_FIFO, m_configuration.priority);
    }
}

void RealtimeThread::HasSpun(std::int64_t time)
{
    m_spinning.Spend(time);
    m_spun += time;
}

Json RealtimeThread::Describe() const
{
    return {{"policy", m_granted ? "fifo" : "other"},
            {"priority", m_granted ? m_configuration.priority : 0},
            {"spin_us", m_granted ? static_cast<double>(m_configuration.spinNs) / 1000 : 0},
            {"timer_slack_ns", m_configuration.timerSlackNs},
            {"reasons", m_reasons}};
}

Json RealtimeThread::Usage() const
{
    return {{"cpu_s", static_cast<double>(CpuTime()) / NS},
            {"spin_s", static_cast<double>(m_spun) / NS},
            {"stepped_back", m_steppedBack},
            {"oversleep_us", static_cast<double>(m_oversleep.Expected()) / 1000}};
}

} // namespace netboxit
