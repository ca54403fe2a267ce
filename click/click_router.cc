// SPDX-License-Identifier: GPL-2.0-or-later
#include "click_router.h"

#include "capture.h"
#include "memory_device.h"
#include "packet_device.h"
#include "prelude.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace netboxit
{

namespace
{

using std::chrono::nanoseconds;

constexpr int BAD_INPUT = 2;

nanoseconds Now(clockid_t clock)
{
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

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

} // namespace

ClickRouter::ClickRouter(const Options& options)
    : m_options(options), m_epoch(Now(CLOCK_REALTIME) - Now(CLOCK_MONOTONIC))
{
    m_node.router = this;
    SetTime();
    Create();
    std::istringstream list(ReadHandler("", "list").text);
    std::string name;
    std::getline(list, name); // the number of elements
    while (std::getline(list, name))
    {
        m_elements.push_back(name);
    }
    CheckDevices();
}

void ClickRouter::Create()
{
    const auto file = ComposeConfiguration(m_options.configuration);
    const auto path = "/proc/self/fd/" + std::to_string(file.Get());
    const StderrCapture capture;
    // Click calls exit() itself when a configuration is wrong: its messages are told, and the exit status
    // set, from there.
    static const ClickRouter* creating;
    static const StderrCapture* told;
    static std::string memory;
    creating = this;
    memory = path;
    told = &capture;
    std::atexit(
        []
        {
            if (creating != nullptr)
            {
                told->Tell(ExplainMessages(told->Text(), memory, creating->m_options.configuration));
                std::_Exit(BAD_INPUT);
            }
        });
    const int result = simclick_click_create(&m_node, path.c_str());
    creating = nullptr;
    if (result != 0)
    {
        throw BadConfiguration(ExplainMessages(capture.Text(), path, m_options.configuration));
    }
    capture.Tell(ExplainMessages(capture.Text(), path, m_options.configuration));
}

ClickRouter::~ClickRouter()
{
    if (m_node.clickRouter != nullptr)
    {
        simclick_click_kill(&m_node);
    }
}

/// The arguments that a prelude's compound kept in its script: `TYPE PASSIVE, return "…"`.
std::vector<std::string> ClickRouter::Arguments(const std::string& element)
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
void ClickRouter::CheckDevices()
{
    for (const auto& name : m_names)
    {
        if (name.starts_with('$'))
        {
            throw BadConfiguration(m_options.configuration + ": interface " + name +
                                   ": the variable has no value; give one with --define " + name.substr(1) +
                                   "=…\n");
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
                    m_options.configuration + ": " + element.substr(0, element.rfind('/')) + ": " + word +
                    " is not possible here; put a Classifier or IPClassifier behind FromDevice\n");
            }
        }
    }
}

void ClickRouter::Open(const sigset_t& signals)
{
    for (const auto& name : m_names)
    {
        if (const auto wire = m_options.memory.find(name); wire != m_options.memory.end())
        {
            m_devices.push_back(std::make_unique<MemoryDevice>(name, wire->second.folder, wire->second.end));
        }
        else
        {
            m_devices.push_back(std::make_unique<PacketDevice>(name, m_options.wait, signals));
        }
    }
    // Sources are scheduled from the start, but Click speaks of it only within a driver round.
    m_wake = nanoseconds::zero();
}

void ClickRouter::SetTime()
{
    const auto now = (Now(CLOCK_MONOTONIC) + m_epoch).count();
    m_node.currentTime.tv_sec = now / 1'000'000'000;
    m_node.currentTime.tv_usec = now % 1'000'000'000 / 1000;
}

bool ClickRouter::Round()
{
    bool any = false;
    for (std::size_t number = 0; number < m_devices.size(); ++number)
    {
        for (const auto frame : m_devices[number]->Receive())
        {
            any = true;
            SetTime();
            simclick_simpacketinfo info{-1, -1, -1};
            simclick_click_send(&m_node,
                                static_cast<int>(number),
                                SIM_PACKET_ETHERNET,
                                frame.data(),
                                static_cast<int>(frame.size()),
                                &info);
        }
    }
    if (const auto idle = Idle(); idle && *idle <= nanoseconds::zero())
    {
        // Forgotten before the call: Click asks anew, within it, whenever it needs another one.
        m_wake.reset();
        SetTime();
        simclick_click_run(&m_node);
    }
    Flush();
    return any;
}

void ClickRouter::Flush()
{
    for (const auto& device : m_devices)
    {
        device->Flush();
    }
}

std::optional<nanoseconds> ClickRouter::Idle() const
{
    if (!m_wake)
    {
        return std::nullopt;
    }
    return std::max(*m_wake - (Now(CLOCK_MONOTONIC) + m_epoch), nanoseconds::zero());
}

ClickRouter::Answer ClickRouter::ReadHandler(const std::string& element, const std::string& handler)
{
    SetTime();
    const StderrCapture capture;
    const std::unique_ptr<char, decltype(&std::free)> text(
        simclick_click_read_handler(&m_node, element.c_str(), handler.c_str(), nullptr, nullptr), &std::free);
    return {text != nullptr, text != nullptr ? text.get() : "", capture.Text()};
}

ClickRouter::Answer ClickRouter::WriteHandler(const std::string& element,
                                              const std::string& handler,
                                              const std::string& text)
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
    simclick_click_run(&m_node);
    Flush();
    return answer;
}

std::optional<std::string> ClickRouter::FindElement(const std::string& name) const
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

std::vector<std::vector<std::string>> ClickRouter::ControlSockets()
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

std::vector<std::string> ClickRouter::Notes() const
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

std::string ClickRouter::Statistics()
{
    nlohmann::json devices = nlohmann::json::object();
    for (std::size_t number = 0; number < m_devices.size(); ++number)
    {
        const auto read = m_devices[number]->Read();
        devices[m_names[number]] = {{"received", read.received},
                                    {"sent", read.sent},
                                    {"overload_drops", read.overloadDrops},
                                    {"oversize_drops", read.oversizeDrops},
                                    {"malformed", read.malformed},
                                    {"send_drops", read.sendDrops}};
    }
    return nlohmann::json{{"devices", devices}}.dump(2) + "\n";
}

int ClickRouter::InterfaceNumber(const std::string& name)
{
    const auto known = std::find(m_names.begin(), m_names.end(), name);
    const auto number = static_cast<int>(known - m_names.begin());
    if (known == m_names.end())
    {
        m_names.push_back(name);
    }
    return number;
}

int ClickRouter::Defines(char* pairs, std::size_t* size) const
{
    std::string all;
    for (const auto& [name, value] : m_options.defines)
    {
        all += name + '\0' + value + '\0';
    }
    const bool fits = all.size() <= *size;
    *size = all.size();
    if (!fits)
    {
        return -1;
    }
    std::memcpy(pairs, all.data(), all.size());
    return 0;
}

} // namespace netboxit
