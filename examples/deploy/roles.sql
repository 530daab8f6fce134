-- The role of servers and workers, which may not make tables. Run once, by the owner of the database.
CREATE ROLE agents LOGIN PASSWORD 'agents';
CREATE SCHEMA treadle AUTHORIZATION CURRENT_USER;
GRANT USAGE ON SCHEMA treadle TO agents;
ALTER DEFAULT PRIVILEGES IN SCHEMA treadle GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO agents;
-- For `--engine dbos` alone.
CREATE SCHEMA treadle_dbos AUTHORIZATION CURRENT_USER;
GRANT USAGE ON SCHEMA treadle_dbos TO agents;
ALTER DEFAULT PRIVILEGES IN SCHEMA treadle_dbos GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO agents;
