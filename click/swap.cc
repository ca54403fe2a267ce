// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of taking a configuration over from another one.

#include "swap.h"

#include "descriptor.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace netboxit::click
{

namespace
{

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int BAD_INPUT = 2;
/// A configuration that is not initialised by then never will be.
constexpr unsigned PATIENCE_S = 10;

/// As long as what arrives may wait in the sockets, and what a frame of 1514 bytes needs at 64 kbit/s.
constexpr auto LONGEST_DRAIN = 1s;
constexpr auto LONGEST_STANDSTILL = 250ms;
constexpr auto PAUSE = 200us;

std::string ReadToEnd(int descriptor)
{
    std::string text;
    std::array<char, 4096> part;
    for (;;)
    {
        const auto count = ::read(descriptor, part.data(), part.size());
        if (count < 0 && errno == EINTR)
        {
            continue;
        }
        if (count <= 0)
        {
            return text;
        }
        text.append(part.data(), static_cast<std::size_t>(count));
    }
}

std::vector<std::string> QueuesOf(Engine& engine)
{
    std::vector<std::string> queues;
    for (const auto& element : engine.Elements())
    {
        if (const auto kind = engine.ClassOf(element); kind.ends_with("Queue") || kind == "LinkUnqueue")
        {
            queues.push_back(element);
        }
    }
    return queues;
}

std::size_t Held(Engine& engine, const std::vector<std::string>& queues)
{
    std::size_t held = 0;
    for (const auto& queue : queues)
    {
        held += std::strtoul(engine.ReadHandler(queue, "length").text.c_str(), nullptr, 10);
    }
    return held;
}

} // namespace

void CheckInChild(const std::function<void()>& check)
{
    std::array<int, 2> ends{};
    Checked(::pipe2(ends.data(), O_CLOEXEC), "a pipe to the process that checks a configuration");
    const Descriptor told(ends[0], "the pipe's end to read from");
    std::fflush(stderr);
    const auto child = ::fork();
    if (child == 0)
    {
        ::dup2(ends[1], STDERR_FILENO);
        ::alarm(PATIENCE_S);
        try
        {
            check();
            std::_Exit(0);
        }
        catch (const std::exception& error)
        {
            std::fprintf(stderr, "%s", error.what());
            std::fflush(stderr);
            std::_Exit(BAD_INPUT);
        }
    }
    ::close(ends[1]);
    Checked(child, "a process to check a configuration");
    const auto messages = ReadToEnd(told.Get());
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
    {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    {
        throw BadConfiguration(messages.empty() ? "Click did not initialise it\n" : messages);
    }
}

std::size_t Drain(Engine& engine, const std::function<void()>& flush)
{
    const auto queues = QueuesOf(engine);
    const auto began = Clock::now();
    auto emptier = began;
    auto held = Held(engine, queues);
    while (held > 0 && Clock::now() - began < LONGEST_DRAIN && Clock::now() - emptier < LONGEST_STANDSTILL)
    {
        engine.RunIfDue();
        flush();
        const timespec pause{0, std::chrono::nanoseconds(PAUSE).count()};
        ::nanosleep(&pause, nullptr);
        if (const auto now = Held(engine, queues); now < held)
        {
            held = now;
            emptier = Clock::now();
        }
    }
    return held;
}

void CarryNeighbours(Engine& before, Engine& next)
{
    for (const auto& element : next.Elements())
    {
        if (next.ClassOf(element) != "ARPQuerier" || before.FindElement(element) != element ||
            before.ClassOf(element) != "ARPQuerier")
        {
            continue;
        }
        // Lines of "address state Ethernet-address age".
        std::istringstream table(before.ReadHandler(element, "table").text);
        for (std::string line; std::getline(table, line);)
        {
            std::istringstream words(line);
            std::string address;
            std::string known;
            std::string ethernet;
            if (words >> address >> known >> ethernet && known == "1")
            {
                next.WriteHandler(element, "insert", address + " " + ethernet);
            }
        }
    }
}

} // namespace netboxit::click
