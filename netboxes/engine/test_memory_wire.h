// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "memory_wire.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

namespace netboxit
{

/// The folder of a memory wire, as system/rings.py makes it.
class TestWire
{
  public:
    static constexpr std::uint64_t CAPACITY = 64 << 10;

    explicit TestWire(std::uint64_t capacity = CAPACITY)
    {
        char folder[] = "/tmp/netboxit-wire-XXXXXX";
        m_folder = ::mkdtemp(folder);
        for (const auto* name : {"left-to-right.ring", "right-to-left.ring"})
        {
            std::vector<std::uint8_t> content(RingMemory::HEADER + capacity);
            std::memcpy(content.data(), "NBXRING1", 8);
            std::memcpy(content.data() + 8, &capacity, 8);
            const Descriptor file(::open(Path(name).c_str(), O_WRONLY | O_CREAT, 0600), name);
            WriteWhole(file.Get(), content.data(), content.size(), 0, name);
        }
        ::mkfifo(Path("left.bell").c_str(), 0600);
        ::mkfifo(Path("right.bell").c_str(), 0600);
    }

    ~TestWire()
    {
        std::filesystem::remove_all(m_folder);
    }

    std::string Folder() const
    {
        return m_folder;
    }

    std::string Path(const std::string& name) const
    {
        return m_folder + "/" + name;
    }

    std::string Ring() const
    {
        return Path("left-to-right.ring");
    }

  private:
    std::string m_folder;
};

} // namespace netboxit
