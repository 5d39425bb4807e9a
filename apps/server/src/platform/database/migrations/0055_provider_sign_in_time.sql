-- When the person of a session that an identity provider began last signed in there, as it said (auth_time); null: it did not say, or too long ago. Such
-- a session is fresh by that time alone, so one from before is not. Sessions of people's own are fresh by created_at.
alter table portal_session add column authenticated_at timestamptz;
