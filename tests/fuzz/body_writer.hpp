#pragma once

#include <string>
#include <variant>

#include "protocol/bodies.hpp"

/// Writes bodies as a client would, so that what was read can be read again.
namespace cleat::fuzz {

std::string write_body(const ResetBody& body);
std::string write_body(const BindBody& body);
std::string write_body(const ImportBody& body);
std::string write_body(const TriggerBody& body);
std::string write_body(const StartBody& body);
std::string write_body(const FinishBody& body);
std::string write_body(const PostBody& body);
std::string write_body(const ReportBody& body);
std::string write_body(const SpaceBody& body);
std::string write_body(const SpacePatch& body);
std::string write_body(const ChannelBody& body);
std::string write_body(const ChannelPatch& body);
std::string write_body(const ThreadBody& body);
std::string write_body(const ThreadPatch& body);
std::string write_body(const PrincipalBody& body);
std::string write_body(const PrincipalPatch& body);
std::string write_body(const TokenBody& body);
std::string write_body(const GrantBody& body);
std::string write_body(const NameBody& body);
std::string write_body(const SubscriberBody& body);
std::string write_body(const SecretBody& body);
std::string write_body(const RunnerTokenBody& body);
std::string write_body(const ContainerBody& body);
std::string write_body(const StartSessionBody& body);
std::string write_body(const HandleBody& body);
std::string write_body(const InputBody& body);
std::string write_body(std::monostate body);

} // namespace cleat::fuzz
