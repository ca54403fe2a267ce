// SPDX-License-Identifier: GPL-2.0-or-later
#include "state_file.h"

#include "descriptor.h"

#include <fcntl.h>

#include <cstdio>

namespace netboxit::middleware
{

void StateFile::Write(const std::string& text, Time now)
{
    m_isTouched = false;
    m_next = now + SECOND;
    if (text == m_written)
    {
        return;
    }
    const auto unready = m_path + ".new";
    const auto tried = "writing the state to " + m_path;
    {
        const Descriptor file(::open(unready.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644), tried);
        WriteWhole(file.Get(), text.data(), text.size(), 0, tried);
    }
    Checked(std::rename(unready.c_str(), m_path.c_str()), tried);
    m_written = text;
}

} // namespace netboxit::middleware
