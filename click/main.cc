// SPDX-License-Identifier: GPL-2.0-or-later
// click-router: the Click modular router on real interfaces, see README.md.

#include "click_router.h"
#include "control_socket.h"
#include "host_surroundings.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

namespace netboxit::click
{

namespace
{

constexpr int DONE = 0;
constexpr int FAILED = 1;
constexpr int BAD_INPUT = 2;

/// Rounds between two looks at the control sockets while frames keep coming.
constexpr int ROUNDS_BETWEEN_CONTROL = 16;

volatile std::sig_atomic_t g_stop = 0;

void Stop(int)
{
    g_stop = 1;
}

/// SIGTERM and SIGINT are let in only while waiting (ppoll), so that none is missed between the check and the
/// wait.
sigset_t CatchSignals()
{
    sigset_t blocked;
    sigset_t before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    ::sigprocmask(SIG_BLOCK, &blocked, &before);
    sigdelset(&before, SIGTERM);
    sigdelset(&before, SIGINT);
    struct sigaction action
    {
    };
    action.sa_handler = Stop;
    ::sigaction(SIGTERM, &action, nullptr);
    ::sigaction(SIGINT, &action, nullptr);
    return before;
}

void BeOnTime(int priority)
{
    // The kernel's default slack of 50 us would be added to every timer.
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    sched_param parameters{};
    parameters.sched_priority = priority;
    if (priority > 0 && ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) < 0)
    {
        std::fprintf(stderr,
                     "click-router: no real-time scheduling (SCHED_FIFO %d: %s): the router runs at normal "
                     "priority; it needs the "
                     "capability SYS_NICE, and with RT group scheduling cpu.rt_runtime_us in its cgroup\n",
                     priority,
                     std::strerror(errno));
    }
}

/// Waits until there is something to do; `busy`: there is.
void Wait(const ClickRouter& router, const ControlServer& control, const sigset_t& signals, bool busy)
{
    const auto devices = router.Devices();
    std::vector<pollfd> waiting;
    for (const auto& device : devices)
    {
        waiting.push_back({device->Descriptor(), POLLIN, 0});
        busy = busy || !device->BeginWait();
    }
    control.AddTo(waiting);
    const auto idle = busy ? std::chrono::nanoseconds::zero() : router.Idle();
    timespec timeout{};
    if (idle)
    {
        timeout.tv_sec = idle->count() / 1'000'000'000;
        timeout.tv_nsec = idle->count() % 1'000'000'000;
    }
    const int found = ::ppoll(waiting.data(), waiting.size(), idle ? &timeout : nullptr, &signals);
    if (found < 0 && errno != EINTR)
    {
        Checked(-1, "waiting for frames");
    }
    for (std::size_t number = 0; number < devices.size(); ++number)
    {
        devices[number]->EndWait(found > 0 && waiting[number].revents != 0);
    }
}

void Route(ClickRouter& router, ControlServer& control, const sigset_t& signals)
{
    int rounds = 0;
    while (g_stop == 0 && !control.StopWanted())
    {
        const bool busy = router.Round();
        if (!busy || ++rounds == ROUNDS_BETWEEN_CONTROL)
        {
            rounds = 0;
            control.Serve();
            Wait(router, control, signals, busy);
        }
    }
}

void WriteStatistics(ClickRouter& router, const std::string& path)
{
    const auto text = router.Statistics();
    const auto tried = "writing the statistics to " + path;
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), tried);
    WriteWhole(file.Get(), text.data(), text.size(), 0, tried);
}

nlohmann::json ReadStages(const Options& options)
{
    if (!options.stages)
    {
        return nullptr;
    }
    std::ifstream file(*options.stages);
    try
    {
        return nlohmann::json::parse(file);
    }
    catch (const nlohmann::json::exception& error)
    {
        throw BadOption("--stages " + *options.stages + ": " + (file ? error.what() : std::strerror(errno)));
    }
}

void Run(const Options& options)
{
    const auto signals = CatchSignals();
    HostSurroundings surroundings(options, signals);
    ClickRouter router(surroundings, options.configuration, options.defines, ReadStages(options));
    if (options.check)
    {
        return;
    }
    for (const auto& note : router.Running().Notes())
    {
        std::fprintf(stderr, "click-router: %s\n", note.c_str());
    }
    router.Open(options.wait);
    ControlServer control(router);
    control.ListenAsConfigured();
    BeOnTime(options.priority);
    // Last, because whoever starts a router waits for this socket.
    if (options.control)
    {
        control.ListenUnix(*options.control, ControlAccess::ReadWrite);
    }
    Route(router, control, signals);
    if (options.statistics)
    {
        WriteStatistics(router, *options.statistics);
    }
}

} // namespace

} // namespace netboxit::click

int main(int argc, char** argv)
{
    using namespace netboxit::click;
    try
    {
        Run(ReadOptions(argc, argv));
        return DONE;
    }
    catch (const BadOption& error)
    {
        std::fprintf(stderr, "click-router: %s\n%s\n", error.what(), USAGE);
        return BAD_INPUT;
    }
    catch (const BadConfiguration& error)
    {
        std::fputs(error.what(), stderr);
        return BAD_INPUT;
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "click-router: %s\n", error.what());
        return FAILED;
    }
}
