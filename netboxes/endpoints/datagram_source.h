// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "../engine/headers.h"

#include <optional>

namespace netboxit
{

/// What a sender sends, and when.
class DatagramSource
{
  public:
    struct Datagram
    {
        std::int64_t offset; ///< ns after the start
        std::size_t length;  ///< of the payload
        Bytes content;       ///< its beginning, the rest is zero; valid until the next call
    };

    virtual ~DatagramSource() = default;
    /// In order of time; nothing at the end.
    virtual std::optional<Datagram> Next() = 0;
    /// Whether payloads begin with their number and time of departure.
    virtual bool IsNumbered() const = 0;
};

} // namespace netboxit
