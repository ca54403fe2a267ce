// SPDX-License-Identifier: GPL-2.0-or-later
#include "http_message.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ctime>
#include <sstream>

namespace netboxit::http
{

namespace
{

constexpr std::string_view LINE_END = "\r\n";
constexpr std::string_view HEAD_END = "\r\n\r\n";
constexpr std::string_view VERSION = "HTTP/1.1";
constexpr std::string_view COOKIE = "Cookie: ";
/// Content lengths of more digits are none.
constexpr std::size_t MOST_DIGITS = 18;

bool IsSame(std::string_view left, std::string_view right)
{
    return std::ranges::equal(left, right, [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
}

std::string_view Trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Takes a line off the beginning of a text.
std::string_view TakeLine(std::string_view& text)
{
    const auto end = std::min(text.find(LINE_END), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + LINE_END.size(), text.size()));
    return line;
}

std::optional<std::uint64_t> Number(std::string_view text)
{
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && text.size() <= MOST_DIGITS ? std::optional(value) : std::nullopt;
}

/// What the fields of a head say that matters here.
struct Fields
{
    std::optional<std::uint64_t> length;
    bool closes{false};
    bool isChunked{false};
};

std::optional<Fields> ReadFields(std::string_view lines)
{
    Fields fields;
    for (auto line = TakeLine(lines); !line.empty(); line = TakeLine(lines))
    {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos || colon == 0 || line.substr(0, colon).find_first_of(" \t") != std::string_view::npos)
        {
            return std::nullopt;
        }
        const auto name = line.substr(0, colon);
        const auto value = Trimmed(line.substr(colon + 1));
        if (IsSame(name, "Content-Length"))
        {
            const auto length = Number(value);
            if (!length || (fields.length && *fields.length != *length)) // RFC 9112, 6.3
            {
                return std::nullopt;
            }
            fields.length = length;
        }
        fields.isChunked |= IsSame(name, "Transfer-Encoding");
        fields.closes |= IsSame(name, "Connection") && IsSame(value, "close");
    }
    return fields;
}

std::string_view Reason(unsigned status)
{
    switch (status)
    {
    case 200:
        return "OK";
    case 404:
        return "Not Found";
    case 405:
        return "Not Allowed";
    default:
        return "Bad Request";
    }
}

/// RFC 9110, 5.6.7.
std::string Date(std::int64_t seconds)
{
    const auto time = static_cast<std::time_t>(seconds);
    std::tm parts{};
    gmtime_r(&time, &parts);
    std::array<char, 40> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts)};
}

} // namespace

std::optional<std::size_t> HeadLength(std::string_view text)
{
    const auto end = text.find(HEAD_END);
    return end == std::string_view::npos ? std::nullopt : std::optional(end + HEAD_END.size());
}

std::optional<Request> ReadRequest(std::string_view head)
{
    auto lines = head;
    const auto line = TakeLine(lines);
    const auto target = line.find(' ');
    const auto version = line.rfind(' ');
    const auto fields = ReadFields(lines);
    if (target == std::string_view::npos || target == 0 || version <= target + 1 || line.substr(version + 1) != VERSION || !fields ||
        fields->isChunked || fields->length.value_or(0) > 0)
    {
        return std::nullopt;
    }
    const auto isGet = line.substr(0, target) == "GET";
    return Request{isGet ? line.substr(target + 1, version - target - 1) : std::string_view(), fields->closes};
}

std::optional<Reply> ReadReply(std::string_view head)
{
    auto lines = head;
    const auto line = TakeLine(lines);
    constexpr auto CODE = VERSION.size() + 1;
    constexpr std::size_t DIGITS = 3;
    const auto fields = ReadFields(lines);
    const auto status = line.size() >= CODE + DIGITS ? Number(line.substr(CODE, DIGITS)) : std::nullopt;
    if (!line.starts_with(VERSION) || line.size() < CODE || line[VERSION.size()] != ' ' || !status || *status < 200 ||
        !fields || fields->isChunked || !fields->length)
    {
        return std::nullopt;
    }
    return Reply{static_cast<unsigned>(*status), *fields->length, fields->closes};
}

bool IsPath(std::string_view target)
{
    return target.starts_with('/') && target.find_first_of(" \r\n") == std::string_view::npos;
}

std::string Authority(const IpAddress& address, std::uint16_t port)
{
    std::ostringstream text;
    if (address.isIpv6)
    {
        text << "[" << address.Ipv6() << "]:" << port;
    }
    else
    {
        text << address.Ipv4() << ":" << port;
    }
    return text.str();
}

std::string WriteRequest(std::string_view target, std::string_view authority, bool closes, std::size_t bytes)
{
    std::string text = "GET ";
    text.append(target).append(" ").append(VERSION).append("\r\nHost: ").append(authority);
    text.append("\r\nUser-Agent: NetBoxIT\r\nAccept: */*\r\n");
    text.append(closes ? "Connection: close\r\n" : "");
    const auto least = text.size() + COOKIE.size() + 1 + 2 * LINE_END.size();
    if (bytes >= least)
    {
        text.append(COOKIE).append(bytes - least + 1, 'x').append(LINE_END);
    }
    return text.append(LINE_END);
}

std::string WriteReply(unsigned status, std::uint64_t length, bool closes, std::int64_t seconds)
{
    const auto date = Date(seconds);
    std::string text(VERSION);
    text.append(" ").append(std::to_string(status)).append(" ").append(Reason(status));
    text.append("\r\nServer: NetBoxIT/0.1\r\nDate: ").append(date);
    text.append("\r\nContent-Type: application/octet-stream\r\nContent-Length: ").append(std::to_string(length));
    if (status == 200)
    {
        text.append("\r\nLast-Modified: ").append(date);
    }
    text.append("\r\nConnection: ").append(closes ? "close" : "keep-alive");
    if (status == 200)
    {
        constexpr auto HEXADECIMAL = 16;
        std::array<char, HEXADECIMAL> number{};
        const auto end = std::to_chars(number.data(), number.data() + number.size(), length, HEXADECIMAL).ptr;
        text.append("\r\nETag: \"00000000-").append(number.data(), end).append("\"\r\nAccept-Ranges: bytes");
    }
    return text.append(HEAD_END);
}

} // namespace netboxit::http
