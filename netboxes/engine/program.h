// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "configuration.h"
#include "event_queue.h"

#include <exception>
#include <iostream>
#include <sstream>

namespace netboxit
{

// What the programs have in common that run netboxes.

/// Runs `run` with the program's one argument, the path of its configuration; what it throws becomes a line on stderr. The
/// program's exit status: what `run` returned, 2 for a configuration that cannot be used, 1 for any other failure.
int RunProgram(int argc, char** argv, int (*run)(const std::string& path));

/// The simulator of this process, in ns-3's place.
ns3::Ptr<EventQueue> InstallEventQueue();

/// Random numbers of whatever is made from now on come from this seed.
void UseSeed(std::uint32_t seed);

/// ns-3 ends the process when a value is not one of an attribute's, or an assertion does not hold. While netboxes are being made,
/// that is told as any other fault of the configuration: in one line, with its exit status.
class FatalWords
{
  public:
    FatalWords();
    ~FatalWords();
    FatalWords(const FatalWords&) = delete;
    FatalWords& operator=(const FatalWords&) = delete;

  private:
    [[noreturn]] static void Refuse();

    static inline std::ostringstream s_said;
    std::streambuf* m_words;
    std::streambuf* m_times;
    std::terminate_handler m_end;
};

/// Whatever goes wrong before the loop runs is the configuration's fault.
template <typename Maker>
auto FromConfiguration(Maker make)
{
    const FatalWords words;
    try
    {
        return make();
    }
    catch (const std::exception& error)
    {
        throw BadConfiguration(error.what());
    }
}

} // namespace netboxit
