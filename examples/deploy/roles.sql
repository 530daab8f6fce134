-- The role of servers and workers, which may not make tables. Run once, by the owner of the database.
CREATE ROLE agents LOGIN PASSWORD 'agents';
CREATE SCHEMA treadle AUTHORIZATION CURRENT_USER;
GRANT USAGE ON SCHEMA treadle TO agents;
ALTER DEFAULT PRIVILEGES IN SCHEMA treadle GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO agents;
