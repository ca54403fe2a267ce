// SPDX-License-Identifier: GPL-2.0-or-later
#include "click_router.h"

#include "prelude.h"
#include "swap.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>

namespace netboxit::click
{

namespace
{

/// Of what is wrong with stages: what they were may be of any length.
constexpr std::size_t LONGEST_COMPLAINT = 300;
/// Stages are three levels deep. Texts may be so deep that what walks through them would need more stack than there is.
constexpr int DEEPEST = 8;
/// As netboxes of labs have it.
constexpr std::chrono::seconds SAMPLE_EACH{1};

[[noreturn]] void Refuse(const std::string& interface, std::string why, const std::string& remedy = {})
{
    if (why.size() > LONGEST_COMPLAINT)
    {
        why.replace(LONGEST_COMPLAINT, why.npos, "…");
    }
    throw BadStages("stages of interface '" + interface + "': " + why + remedy);
}

/// Throws nlohmann::json::exception, std::invalid_argument.
nlohmann::json ParseStages(std::string_view text)
{
    return nlohmann::json::parse(text,
                                 [](int depth, nlohmann::json::parse_event_t, const nlohmann::json&)
                                 {
                                     if (depth > DEEPEST)
                                     {
                                         throw std::invalid_argument("lists and mappings in one another, more than " +
                                                                     std::to_string(DEEPEST) + " of them");
                                     }
                                     return true;
                                 });
}

} // namespace

ClickRouter::ClickRouter(Surroundings& surroundings,
                         const std::string& configuration,
                         const std::map<std::string, std::string>& defines,
                         const nlohmann::json& stages)
    : m_surroundings(surroundings), m_defines(defines), m_seed(stages.is_null() ? 0 : stages.at("seed").get<std::uint32_t>()),
      m_stages(stages.is_null() ? nlohmann::json::object() : stages.at("interfaces"))
{
    m_engine = std::make_unique<Engine>(*this, ReadConfiguration(configuration), configuration);
}

void ClickRouter::Open(std::chrono::milliseconds wait)
{
    for (const auto& [name, own] : m_stages.items())
    {
        if (std::ranges::find(m_names, name) == m_names.end())
        {
            throw NoInterface("stages are said of '" + name + "', and the configuration has no such interface");
        }
    }
    OpenDevices(wait);
    m_engine->RunSoon();
}

/// Those that have a name and are not open yet.
void ClickRouter::OpenDevices(std::chrono::milliseconds wait)
{
    while (m_devices.size() < m_names.size())
    {
        const auto number = m_devices.size();
        const auto& name = m_names[number];
        auto device = m_surroundings.OpenDevice(name, wait);
        const auto announce = [this, name](std::string_view event, const nlohmann::json& details)
        { m_surroundings.Announce(name, event, details); };
        m_devices.push_back(
            std::make_unique<StagedDevice>(std::move(device), stages::Chain(m_seed, number, announce), m_surroundings));
        if (const auto stages = m_stages.find(name); stages != m_stages.end())
        {
            SetStages(name, *stages);
        }
    }
}

bool ClickRouter::Round()
{
    bool any = false;
    for (std::size_t number = 0; number < m_devices.size(); ++number)
    {
        for (const auto frame : m_devices[number]->Receive())
        {
            any = true;
            m_engine->Take(static_cast<int>(number), frame);
        }
    }
    m_engine->RunIfDue();
    Flush();
    SampleIfDue();
    return any;
}

std::optional<std::chrono::nanoseconds> ClickRouter::Idle() const
{
    const auto idle = m_engine->Idle();
    if (!m_sample)
    {
        return idle;
    }
    const auto left = std::max(*m_sample - m_surroundings.Now(), std::chrono::nanoseconds::zero());
    return idle ? std::min(*idle, left) : left;
}

void ClickRouter::SampleIfDue()
{
    if (!m_sample || m_surroundings.Now() < *m_sample)
    {
        return;
    }
    auto stations = nlohmann::json::object();
    for (std::size_t number = 0; number < m_devices.size(); ++number)
    {
        if (m_devices[number]->HasStages())
        {
            m_devices[number]->AddTo(stations[m_names[number]]);
        }
    }
    m_surroundings.Sample({{"stations", stations}});
    m_sample = m_surroundings.Now() + SAMPLE_EACH;
}

void ClickRouter::Flush()
{
    for (const auto& device : m_devices)
    {
        device->Flush();
    }
}

std::string ClickRouter::Swap(const std::string& text)
{
    // Click ends the process when a configuration is wrong.
    CheckInChild([&] { const Engine tried(*this, text, HOT_CONFIGURATION); });
    const auto names = m_names.size();
    std::unique_ptr<Engine> next;
    try
    {
        next = std::make_unique<Engine>(*this, text, HOT_CONFIGURATION);
        OpenDevices(std::chrono::milliseconds::zero());
    }
    catch (...)
    {
        next.reset();
        m_devices.resize(std::min(m_devices.size(), names));
        m_names.resize(names);
        throw;
    }
    std::string messages;
    if (const auto left = Drain(*m_engine, [this] { Flush(); }); left > 0)
    {
        messages = std::to_string(left) + " frames that the queues still held were dropped\n";
    }
    CarryNeighbours(*m_engine, *next);
    for (const auto& note : next->Notes())
    {
        messages += note + "\n";
    }
    m_engine = std::move(next);
    ++m_swaps;
    m_engine->RunSoon();
    return messages;
}

std::string ClickRouter::Unplug(const std::string& name)
{
    if (!Named(name).Close())
    {
        throw NoInterface("'" + name + "' is shared memory with its neighbour, not an interface");
    }
    return {};
}

std::string ClickRouter::Plug(const std::string& name)
{
    Named(name).Open();
    return {};
}

void ClickRouter::SetStages(const std::string& interface, const nlohmann::json& stages)
{
    auto& device = Named(interface);
    try
    {
        device.SetStages(stages);
    }
    catch (const std::exception& error)
    {
        Refuse(interface, error.what());
    }
    const bool has = std::ranges::any_of(m_devices, [](const auto& one) { return one->HasStages(); });
    m_sample = has ? std::optional(m_sample.value_or(m_surroundings.Now())) : std::nullopt;
}

std::string ClickRouter::WriteStages(const std::string& text)
{
    const auto blank = std::min(text.find_first_of(" \t\r\n"), text.size());
    const auto interface = text.substr(0, blank);
    Named(interface);
    nlohmann::json stages;
    try
    {
        stages = ParseStages(std::string_view(text).substr(blank));
    }
    catch (const std::exception& error)
    {
        Refuse(interface, error.what(), "; write " + interface + R"( [{"stage": …}, …], or )" + interface + " [] for none");
    }
    SetStages(interface, stages);
    return {};
}

std::string ClickRouter::ReadStages()
{
    auto stages = nlohmann::json::object();
    for (std::size_t number = 0; number < m_devices.size(); ++number)
    {
        stages[m_names[number]] = m_devices[number]->Stages();
    }
    return stages.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

StagedDevice& ClickRouter::Named(const std::string& name) const
{
    const auto known = std::find(m_names.begin(), m_names.end(), name);
    if (known == m_names.end())
    {
        std::string names;
        for (const auto& there : m_names)
        {
            names += (names.empty() ? "" : ", ") + there;
        }
        throw NoInterface("the router has no interface '" + name + "'; " + (names.empty() ? "it has none" : "there are " + names));
    }
    return *m_devices.at(static_cast<std::size_t>(known - m_names.begin()));
}

Answer ClickRouter::ReadHandler(const std::string& element, const std::string& handler)
{
    return m_engine->ReadHandler(element, handler);
}

Answer
ClickRouter::WriteHandler(const std::string& element, const std::string& handler, const std::string& text)
{
    const auto answer = m_engine->WriteHandler(element, handler, text);
    Flush();
    return answer;
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
                                    {"send_drops", read.sendDrops},
                                    {"policed", read.policed}};
        if (auto stages = m_devices[number]->ReadStages(); !stages.empty())
        {
            devices[m_names[number]]["stages"] = std::move(stages);
        }
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
    for (const auto& [name, value] : m_defines)
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

} // namespace netboxit::click
