// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "headers.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <span>

namespace netboxit::stages
{

using Json = nlohmann::json;

/// Looks at the packets that pass a station's port, in both directions, and may change or drop them: between the port and the
/// segment. All calls happen in the simulator's one thread.
class Stage
{
  public:
    virtual ~Stage() = default;
    /// A frame from the node at the port is about to enter the segment at `now` (ns). `headers` are views into `frame`; a stage
    /// that changes bytes keeps lengths, headers' places, addresses and ports. False: the frame is dropped.
    virtual bool Entering(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now) = 0;
    /// A frame from the segment is about to leave at the port; the same otherwise.
    virtual bool Leaving(std::span<std::uint8_t> frame, const Headers& headers, std::int64_t now) = 0;
    /// Throws what Set() would throw with these settings: std::invalid_argument or nlohmann::json::exception.
    virtual void Check(const Json& settings) const = 0;
    /// Takes new settings, with all keys of those it was made with; what it knows of packets stays.
    virtual void Set(const Json& settings, std::int64_t now) = 0;
    /// Whether its drops are packets of somebody who exceeds what is permitted.
    virtual bool Polices() const
    {
        return false;
    }

    /// Its statistics, in base units.
    virtual Json Read(std::int64_t now) const = 0;
};

} // namespace netboxit::stages
