// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

namespace netboxit
{

/// The one wrapper around system calls that must succeed: throws std::system_error with what was tried.
inline int Checked(int result, const std::string& tried)
{
    if (result < 0)
    {
        throw std::system_error(errno, std::generic_category(), tried);
    }
    return result;
}

/// Owns a file descriptor.
class Descriptor
{
  public:
    Descriptor() = default;

    Descriptor(int descriptor, const std::string& tried) : m_descriptor(Checked(descriptor, tried))
    {
    }

    Descriptor(Descriptor&& other) noexcept : m_descriptor(std::exchange(other.m_descriptor, -1))
    {
    }

    Descriptor& operator=(Descriptor&& other) noexcept
    {
        std::swap(m_descriptor, other.m_descriptor);
        return *this;
    }

    ~Descriptor()
    {
        if (m_descriptor >= 0)
        {
            ::close(m_descriptor);
        }
    }

    int Get() const
    {
        return m_descriptor;
    }

  private:
    int m_descriptor{-1};
};

/// Writes all of it, from this place of the file on.
inline void WriteWhole(
    int descriptor, const void* data, std::size_t size, std::size_t place, const std::string& tried)
{
    const auto* at = static_cast<const char*>(data);
    while (size > 0)
    {
        const auto written = ::pwrite(descriptor, at, size, static_cast<off_t>(place));
        if (written < 0 && errno == EINTR)
        {
            continue;
        }
        const auto count = static_cast<std::size_t>(Checked(static_cast<int>(written), tried));
        at += count;
        place += count;
        size -= count;
    }
}

} // namespace netboxit
