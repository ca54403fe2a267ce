// SPDX-License-Identifier: GPL-2.0-or-later
#include "engine.h"

#include "capture.h"
#include "click_router.h"
#include "prelude.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <sstream>
#include <string_view>

namespace netboxit::click
{

namespace
{

using std::chrono::nanoseconds;

constexpr int BAD_INPUT = 2;

bool EndsWith(const std::string& name, std::string_view last)
{
    return name.size() > last.size() && name.ends_with(last) && name[name.size() - last.size() - 1] == '/';
}

std::string Trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r\n");
    return first == std::string_view::npos
               ? ""
               : std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

std::set<int> OpenPipes()
{
    std::set<int> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    {
        std::error_code gone;
        if (std::filesystem::read_symlink(entry, gone).string().starts_with("pipe:"))
        {
            found.insert(std::stoi(entry.path().filename()));
        }
    }
    return found;
}

} // namespace

/// Every call in which Click runs.
template <typename Call>
void Engine::Run(Call call)
{
    if (m_pipes)
    {
        return call();
    }
    const auto before = OpenPipes();
    call();
    std::ranges::set_difference(OpenPipes(), before, std::inserter(m_pipes.emplace(), m_pipes->end()));
}

Engine::Engine(ClickRouter& router, const std::string& text, const std::string& name) : m_router(router)
{
    m_node.router = &router;
    SetTime();
    Create(text, name);
    try
    {
        std::istringstream list(ReadHandler("", "list").text);
        std::string element;
        std::getline(list, element); // the number of elements
        while (std::getline(list, element))
        {
            m_elements.push_back(element);
        }
        CheckDevices(name);
    }
    catch (...)
    {
        Kill();
        throw;
    }
}

void Engine::Create(const std::string& text, const std::string& name)
{
    const auto file = ComposeConfiguration(text, name);
    const auto path = "/proc/self/fd/" + std::to_string(file.Get());
    const StderrCapture capture;
    // Click calls exit() itself when a configuration is wrong: its messages are told, and the exit status
    // set, from there.
    struct Creation
    {
        std::string memory;
        std::string name;
        const StderrCapture* told{};
    };
    static Creation current;
    static const int REGISTERED = std::atexit(
        []
        {
            if (current.told != nullptr)
            {
                current.told->Tell(ExplainMessages(current.told->Text(), current.memory, current.name));
                std::_Exit(BAD_INPUT);
            }
        });
    Checked(REGISTERED, "registering what is done at the exit");
    current = {path, name, &capture};
    const int result = simclick_click_create(&m_node, path.c_str());
    current.told = nullptr;
    if (result != 0)
    {
        throw BadConfiguration(ExplainMessages(capture.Text(), path, name));
    }
    capture.Tell(ExplainMessages(capture.Text(), path, name));
}

Engine::~Engine()
{
    Kill();
}

void Engine::Kill()
{
    simclick_click_kill(&m_node);
    for (const int descriptor : m_pipes.value_or(std::set<int>{}))
    {
        ::close(descriptor);
    }
}

/// The arguments that a prelude's compound kept in its script: `TYPE PASSIVE, return "…"`.
std::vector<std::string> Engine::Arguments(const std::string& element)
{
    const auto config = ReadHandler(element, "config").text;
    const auto first = config.find('"');
    const auto last = config.rfind('"');
    std::vector<std::string> arguments;
    std::istringstream list(first < last ? config.substr(first + 1, last - first - 1) : "");
    for (std::string argument; std::getline(list, argument, ',');)
    {
        arguments.push_back(Trimmed(argument));
    }
    return arguments;
}

/// Refuses interfaces without a name, and the arguments of FromDevice that would change which frames come in,
/// and that the library cannot honour.
void Engine::CheckDevices(const std::string& name)
{
    for (const auto& interface : m_router.Names())
    {
        if (interface.starts_with('$'))
        {
            throw BadConfiguration(name + ": interface " + interface +
                                   ": the variable has no value; give one with --define " +
                                   interface.substr(1) + "=…\n");
        }
    }
    for (const auto& element : m_elements)
    {
        if (!EndsWith(element, DEVICE_ARGUMENTS))
        {
            continue;
        }
        for (const auto& argument : Arguments(element))
        {
            const auto word = argument.substr(0, argument.find(' '));
            const auto value = Trimmed(std::string_view(argument).substr(word.size()));
            const bool asked = value != "false" && value != "0" && value != "no";
            if (word == "BPF_FILTER" || word == "PROTOCOL" ||
                ((word == "FORCE_IP" || word == "OUTBOUND") && asked))
            {
                throw BadConfiguration(
                    name + ": " + element.substr(0, element.rfind('/')) + ": " + word +
                    " is not possible here; put a Classifier or IPClassifier behind FromDevice\n");
            }
        }
    }
}

void Engine::SetTime()
{
    const auto now = m_router.Around().Now().count();
    m_node.currentTime.tv_sec = now / 1'000'000'000;
    m_node.currentTime.tv_usec = now % 1'000'000'000 / 1000;
}

void Engine::Take(int interface, Bytes frame)
{
    SetTime();
    simclick_simpacketinfo info{-1, -1, -1};
    Run(
        [&]
        {
            simclick_click_send(
                &m_node, interface, SIM_PACKET_ETHERNET, frame.data(), static_cast<int>(frame.size()), &info);
        });
}

void Engine::RunIfDue()
{
    if (const auto idle = Idle(); idle && *idle <= nanoseconds::zero())
    {
        // Forgotten before the call: Click asks anew, within it, whenever it needs another one.
        m_node.wake.reset();
        SetTime();
        Run([this] { simclick_click_run(&m_node); });
    }
}

void Engine::RunSoon()
{
    m_node.wake = nanoseconds::zero();
}

std::optional<nanoseconds> Engine::Idle() const
{
    if (!m_node.wake)
    {
        return std::nullopt;
    }
    return std::max(*m_node.wake - m_router.Around().Now(), nanoseconds::zero());
}

Answer Engine::ReadHandler(const std::string& element, const std::string& handler)
{
    SetTime();
    const StderrCapture capture;
    const std::unique_ptr<char, decltype(&std::free)> text(
        simclick_click_read_handler(&m_node, element.c_str(), handler.c_str(), nullptr, nullptr), &std::free);
    return {text != nullptr, text != nullptr ? text.get() : "", capture.Text()};
}

Answer
Engine::WriteHandler(const std::string& element, const std::string& handler, const std::string& text)
{
    SetTime();
    Answer answer;
    {
        const StderrCapture capture;
        answer.done =
            simclick_click_write_handler(&m_node, element.c_str(), handler.c_str(), text.c_str()) >= 0;
        answer.messages = capture.Text();
    }
    // A task that the handler set going is only noticed by a driver round. What was asked for before still
    // stands.
    Run([this] { simclick_click_run(&m_node); });
    return answer;
}

std::string Engine::ClassOf(const std::string& element)
{
    return Trimmed(ReadHandler(element, "class").text);
}

std::optional<std::string> Engine::FindElement(const std::string& name) const
{
    for (const auto& candidate : {name, name + "/" + std::string(DEVICE_COUNTER)})
    {
        if (std::find(m_elements.begin(), m_elements.end(), candidate) != m_elements.end())
        {
            return candidate;
        }
    }
    return std::nullopt;
}

std::vector<std::vector<std::string>> Engine::ControlSockets()
{
    std::vector<std::vector<std::string>> sockets;
    for (const auto& element : m_elements)
    {
        if (EndsWith(element, CONTROL_SOCKET))
        {
            sockets.push_back(Arguments(element));
        }
    }
    return sockets;
}

std::vector<std::string> Engine::Notes() const
{
    std::vector<std::string> notes;
    for (const auto& element : m_elements)
    {
        if (EndsWith(element, DISCARDS))
        {
            notes.push_back(element.substr(0, element.rfind('/')) +
                            " discards what it gets: the kernel's IP stack has no part in this router");
        }
    }
    return notes;
}

} // namespace netboxit::click
