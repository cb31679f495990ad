#pragma once

#include <vector>

#include "storage/messages.hpp"
#include "storage/pg/connection.hpp"

namespace cleat::storage::pg {

/// Adds the statements that answer questions about containers, a handful for all of them. `answers` gets its size here
/// and outlives the pipeline's run, as `questions` does.
void add_containers(Pipeline& pipeline, const std::vector<LoadContainer>& questions,
                    std::vector<ContainerLoaded>& answers);

/// The same for where containers are.
void add_locations(Pipeline& pipeline, const std::vector<LocateContainer>& questions,
                   std::vector<ContainerLocated>& answers);

/// What the enrolment of a Runner is decided on, from one snapshot.
EnrolmentFacts load_enrolment(Connection& connection, const LoadEnrolment& question);

/// Commits a heartbeat and answers which Runners the node holds.
std::vector<HeldRunner> beat(Connection& connection, const BeatNode& question);

/// Adds the statements that answer what is asked about accounts, Runners and containers. `facts` outlives the
/// pipeline's run.
void add_fleet_facts(Pipeline& pipeline, const LoadDirectory& question, DirectoryFacts& facts);

} // namespace cleat::storage::pg
