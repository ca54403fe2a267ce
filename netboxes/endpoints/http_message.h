// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include "addresses.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace netboxit
{

/// Heads of HTTP/1.1's messages (RFC 9112), as far as a client that gets files and their server need them.
namespace http
{

/// Longer ones are refused: what nginx takes of a request (large_client_header_buffers).
constexpr std::size_t LONGEST_HEAD = 8192;

struct Request
{
    std::string_view target; ///< of a GET; empty of any other method
    bool closes;             ///< the connection is to end with the reply
};

struct Reply
{
    unsigned status;
    std::uint64_t length; ///< of the content, bytes
    bool closes;
};

/// How long the head is that a text begins with, its empty line counted; nothing while it is not whole.
std::optional<std::size_t> HeadLength(std::string_view text);

/// Of a whole head; nothing of what is none. A request with content is none: its length would have to be believed.
std::optional<Request> ReadRequest(std::string_view head);
/// Nothing also of a reply that does not say how long its content is.
std::optional<Reply> ReadReply(std::string_view head);

/// Whether a request line can carry that as its target: a path, absolute and without blanks.
bool IsPath(std::string_view target);
/// Host and port as URLs have them (RFC 3986, 3.2).
std::string Authority(const IpAddress& address, std::uint16_t port);
/// A GET of so many bytes, which a cookie fills; longer where the other lines are, or the cookie's name would not fit.
std::string WriteRequest(std::string_view target, std::string_view authority, bool closes, std::size_t bytes);
/// As nginx writes it; `seconds` since 1970.
std::string WriteReply(unsigned status, std::uint64_t length, bool closes, std::int64_t seconds);

} // namespace http

} // namespace netboxit
