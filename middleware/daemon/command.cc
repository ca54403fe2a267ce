// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"

#include "descriptor.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <stdexcept>

namespace netboxit::middleware
{

namespace
{

constexpr int SIGNALLED = 128;

/// A file in memory holds whatever length, so nobody has to read while the program writes.
Descriptor OpenMemory()
{
    return {::memfd_create("c2ml", MFD_CLOEXEC), "opening a file in memory"};
}

std::string ReadAll(const Descriptor& file)
{
    std::string text;
    std::array<char, 4096> piece;
    for (;;)
    {
        const auto place = static_cast<off_t>(text.size());
        const auto count = Checked(static_cast<int>(::pread(file.Get(), piece.data(), piece.size(), place)), "reading an answer");
        if (count == 0)
        {
            return text;
        }
        text.append(piece.data(), static_cast<std::size_t>(count));
    }
}

/// The daemon blocks signals, which its children must not inherit.
class Spawning
{
  public:
    Spawning(const Descriptor& input, const Descriptor& output, const Descriptor& error)
    {
        ::posix_spawn_file_actions_init(&m_files);
        ::posix_spawn_file_actions_adddup2(&m_files, input.Get(), STDIN_FILENO);
        ::posix_spawn_file_actions_adddup2(&m_files, output.Get(), STDOUT_FILENO);
        ::posix_spawn_file_actions_adddup2(&m_files, error.Get(), STDERR_FILENO);
        ::posix_spawnattr_init(&m_attributes);
        sigset_t signals;
        sigemptyset(&signals);
        ::posix_spawnattr_setsigmask(&m_attributes, &signals);
        sigaddset(&signals, SIGPIPE);
        ::posix_spawnattr_setsigdefault(&m_attributes, &signals);
        ::posix_spawnattr_setflags(&m_attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }

    ~Spawning()
    {
        ::posix_spawn_file_actions_destroy(&m_files);
        ::posix_spawnattr_destroy(&m_attributes);
    }

    Spawning(const Spawning&) = delete;
    Spawning& operator=(const Spawning&) = delete;

    pid_t Start(const std::vector<std::string>& words) const
    {
        std::vector<char*> argv;
        for (const auto& word : words)
        {
            argv.push_back(const_cast<char*>(word.c_str()));
        }
        argv.push_back(nullptr);
        std::string locale = "LC_ALL=C";
        std::array<char*, 2> environment{locale.data(), nullptr};
        pid_t child = 0;
        const int error = ::posix_spawn(&child, argv[0], &m_files, &m_attributes, argv.data(), environment.data());
        if (error != 0)
        {
            throw std::system_error(error, std::generic_category(), "starting " + words[0]);
        }
        return child;
    }

  private:
    posix_spawn_file_actions_t m_files{};
    posix_spawnattr_t m_attributes{};
};

} // namespace

Outcome RunCommand(const std::vector<std::string>& words, const std::string& input)
{
    const auto in = OpenMemory();
    const auto out = OpenMemory();
    const auto error = OpenMemory();
    WriteWhole(in.Get(), input.data(), input.size(), 0, "writing what " + words[0] + " reads");
    const auto child = Spawning(in, out, error).Start(words);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
    {
        if (errno != EINTR)
        {
            Checked(-1, "waiting for " + words[0]);
        }
    }
    return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status),
            .output = ReadAll(out),
            .error = ReadAll(error)};
}

std::string Answer(const std::vector<std::string>& words, const std::string& input)
{
    const auto outcome = RunCommand(words, input);
    if (outcome.status != 0)
    {
        std::string line;
        for (const auto& word : words)
        {
            line += (line.empty() ? "" : " ") + word;
        }
        auto text = outcome.error.substr(0, outcome.error.find_last_not_of('\n') + 1);
        throw std::runtime_error("`" + line + "` failed with status " + std::to_string(outcome.status) + ": " + text);
    }
    return outcome.output;
}

} // namespace netboxit::middleware
