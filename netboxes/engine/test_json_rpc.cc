// SPDX-License-Identifier: GPL-2.0-or-later
#include "json_rpc.h"

#include <gtest/gtest.h>

#include <random>

using namespace netboxit::json_rpc;
using Json = nlohmann::json;

namespace
{

/// `echo` answers its parameters, everything else is refused.
std::string Ask(std::string_view text)
{
    return Respond(text,
                   [](const std::string& method, const Json& params) {
                       return method == "echo" ? params : throw Refusal{Code::MethodNotFound, "no method"};
                   });
}

int ErrorOf(std::string_view text)
{
    return Json::parse(Ask(text))["error"]["code"];
}

} // namespace

TEST(JsonRpc, AResponseHasTheResultAndTheId)
{
    const auto response = Json::parse(Ask(R"({"jsonrpc":"2.0","id":"x","method":"echo","params":{"a":1}})"));
    EXPECT_EQ(response, Json::parse(R"({"jsonrpc":"2.0","id":"x","result":{"a":1}})"));
}

TEST(JsonRpc, ANotificationGetsNoResponse)
{
    EXPECT_EQ(Ask(R"({"jsonrpc":"2.0","method":"echo"})"), "");
    EXPECT_EQ(Ask(R"({"jsonrpc":"2.0","method":"unknown"})"), "");
}

TEST(JsonRpc, EachKindOfMistakeHasItsCode)
{
    EXPECT_EQ(ErrorOf("{"), -32700);
    EXPECT_EQ(ErrorOf("\xff\xfe"), -32700);
    EXPECT_EQ(ErrorOf("1"), -32600);
    EXPECT_EQ(ErrorOf("[]"), -32600);
    EXPECT_EQ(ErrorOf(R"({"id":1,"method":"echo"})"), -32600);
    EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":1})"), -32600);
    EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":{},"method":"echo"})"), -32600);
    EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":1,"method":"unknown"})"), -32601);
    EXPECT_EQ(ErrorOf(R"({"jsonrpc":"2.0","id":1,"method":"echo","params":[1]})"), -32602);
}

TEST(JsonRpc, ABatchGetsOneArray)
{
    const auto responses =
        Json::parse(Ask(R"([{"jsonrpc":"2.0","id":1,"method":"echo"},{"jsonrpc":"2.0","method":"echo"},7])"));
    ASSERT_EQ(responses.size(), 2u);
    EXPECT_EQ(responses[0]["id"], 1);
    EXPECT_EQ(responses[1]["error"]["code"], -32600);
    EXPECT_EQ(Ask(R"([{"jsonrpc":"2.0","method":"echo"}])"), "");
}

TEST(JsonRpc, NoBytesUpsetIt)
{
    std::mt19937 random(7);
    const std::string good =
        R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"a":[1,2.5e3,null,"\u00e9"]}})";
    for (int i = 0; i < 20'000; ++i)
    {
        auto text = good;
        for (unsigned changes = random() % 4; changes-- > 0;)
        {
            text[random() % text.size()] = static_cast<char>(random());
        }
        const auto response = Ask(text);
        EXPECT_TRUE(response.empty() || Json::accept(response)) << text;
    }
}
