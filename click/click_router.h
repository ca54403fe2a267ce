// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "device.h"
#include "engine.h"
#include "staged_device.h"
#include "surroundings.h"

#include <span>
#include <string>
#include <vector>

namespace netboxit::click
{

/// An interface cannot have these stages. It keeps those that it has.
struct BadStages : std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/// One Click router in this process: its interfaces, its clock, and the configuration that runs.
class ClickRouter
{
  public:
    /// Parses and initialises the configuration (a file), whose variables are `defines`; throws BadConfiguration. Interfaces
    /// are opened by Open(). `stages` are {seed, interfaces: {NAME: [stage, …]}}, or null. The surroundings must outlive it.
    ClickRouter(Surroundings& surroundings,
                const std::string& configuration,
                const std::map<std::string, std::string>& defines,
                const nlohmann::json& stages);
    ClickRouter(const ClickRouter&) = delete;
    ClickRouter& operator=(const ClickRouter&) = delete;

    /// Opens every interface that the configuration names, waiting for each as long as `wait`; throws
    /// NoInterface, also where stages are said of another one, std::system_error, BadStages.
    void Open(std::chrono::milliseconds wait);

    std::span<const std::unique_ptr<StagedDevice>> Devices() const
    {
        return m_devices;
    }

    /// Passes what has arrived through the router, runs it if it is due, and sends what came out. True when
    /// frames had arrived.
    bool Round();

    /// How long the router has nothing to do unless a frame arrives; nothing = for ever.
    std::optional<std::chrono::nanoseconds> Idle() const;

    /// Another configuration takes over. Interfaces stay open: what arrives meanwhile waits in their sockets
    /// and rings. What the old one has in its queues leaves first, and what it knows of its neighbours'
    /// addresses goes to elements of the same name. Throws BadConfiguration or NoInterface, and then the old
    /// one goes on. Returns what should be known, a line each.
    std::string Swap(const std::string& text);

    /// Lets go of an interface, so that another one can have its name; frames sent there are lost. Throws
    /// NoInterface where no configuration named such an interface, or where it is shared memory.
    std::string Unplug(const std::string& name);
    /// Goes on with the interface that has the name now. Throws NoInterface.
    std::string Plug(const std::string& name);

    /// Gives an interface these stages. Those of the same kind at the same place keep what they know of packets. Throws NoInterface where no
    /// configuration named such an interface, BadStages.
    void SetStages(const std::string& interface, const nlohmann::json& stages);
    /// The same, of `INTERFACE [stage, …]`. Returns nothing that should be known.
    std::string WriteStages(const std::string& text);
    /// {interface: [stage, …]} of all, as JSON.
    std::string ReadStages();

    Answer ReadHandler(const std::string& element, const std::string& handler);
    Answer WriteHandler(const std::string& element, const std::string& handler, const std::string& text);

    /// The configuration that runs; another one after Swap().
    Engine& Running() const
    {
        return *m_engine;
    }

    /// How often another configuration took over.
    unsigned Swaps() const
    {
        return m_swaps;
    }

    /// Received, sent and lost frames of each interface until now, and what its stages count, as JSON.
    std::string Statistics();

    /// For the engine and what Click asks of its host.
    const Surroundings& Around() const
    {
        return m_surroundings;
    }
    const std::vector<std::string>& Names() const
    {
        return m_names;
    }
    int InterfaceNumber(const std::string& name);
    int Defines(char* pairs, std::size_t* size) const;

  private:
    void OpenDevices(std::chrono::milliseconds wait);
    void Flush();
    /// What stages count is taken down each second, as long as an interface has some.
    void SampleIfDue();
    StagedDevice& Named(const std::string& name) const;

    Surroundings& m_surroundings;
    std::map<std::string, std::string> m_defines;
    std::uint32_t m_seed;
    nlohmann::json m_stages; ///< those of the start, by interface
    std::vector<std::string> m_names;
    std::vector<std::unique_ptr<StagedDevice>> m_devices;
    std::unique_ptr<Engine> m_engine;
    unsigned m_swaps{0};
    std::optional<std::chrono::nanoseconds> m_sample; ///< when the next one is due; nothing while there are no stages
};

} // namespace netboxit::click
