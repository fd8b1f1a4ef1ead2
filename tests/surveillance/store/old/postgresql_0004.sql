CREATE TABLE public.alembic_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.alerts (
    id bigint NOT NULL,
    alert_id text NOT NULL,
    round bigint,
    table_name text NOT NULL,
    camera text NOT NULL,
    source text NOT NULL,
    dealer text,
    code text NOT NULL,
    severity text NOT NULL,
    seat integer,
    wager text,
    at timestamp with time zone NOT NULL,
    start_s text,
    end_s text,
    seen text,
    due text,
    rule text,
    message text NOT NULL,
    pictures json NOT NULL,
    state text NOT NULL,
    was_right boolean,
    decided_by text,
    decided_at timestamp with time zone,
    bundle text,
    bundle_sha256 text,
    clip text,
    recording_id bigint,
    is_case boolean NOT NULL,
    case_by text,
    difference_cents bigint,
    CONSTRAINT ck_alerts_state CHECK ((state = ANY (ARRAY['open'::text, 'confirmed'::text, 'rejected'::text, 'corrected'::text])))
);
CREATE SEQUENCE public.alerts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.alerts_id_seq OWNED BY public.alerts.id;
CREATE TABLE public.attempts (
    id bigint NOT NULL,
    name_key text NOT NULL,
    address text NOT NULL,
    ok boolean NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.attempts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.attempts_id_seq OWNED BY public.attempts.id;
CREATE TABLE public.audit (
    id bigint NOT NULL,
    by_name text NOT NULL,
    act text NOT NULL,
    target text NOT NULL,
    detail json NOT NULL,
    address text NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.audit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.audit_id_seq OWNED BY public.audit.id;
CREATE TABLE public.cameras (
    id bigint NOT NULL,
    name text NOT NULL,
    table_name text NOT NULL,
    source text NOT NULL,
    table_file_sha256 text NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.cameras_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.cameras_id_seq OWNED BY public.cameras.id;
CREATE TABLE public.dealers (
    id bigint NOT NULL,
    table_name text NOT NULL,
    name text,
    at timestamp with time zone NOT NULL,
    by_name text NOT NULL
);
CREATE SEQUENCE public.dealers_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.dealers_id_seq OWNED BY public.dealers.id;
CREATE TABLE public.health (
    id bigint NOT NULL,
    camera text NOT NULL,
    state text NOT NULL,
    message text NOT NULL,
    at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.health_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.health_id_seq OWNED BY public.health.id;
CREATE TABLE public.links (
    id bigint NOT NULL,
    token_sha256 text NOT NULL,
    kind text NOT NULL,
    user_id bigint,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    used_at timestamp with time zone
);
CREATE SEQUENCE public.links_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.links_id_seq OWNED BY public.links.id;
CREATE TABLE public.pending_evidence (
    alert bigint NOT NULL,
    status text NOT NULL,
    since timestamp with time zone NOT NULL,
    content json NOT NULL,
    clip json,
    clip_name text NOT NULL,
    missing json NOT NULL,
    tries integer NOT NULL,
    error text NOT NULL,
    CONSTRAINT ck_pending_evidence_status CHECK ((status = ANY (ARRAY['awaiting_clip'::text, 'ready'::text, 'preview'::text])))
);
CREATE TABLE public.recordings (
    id bigint NOT NULL,
    folder text NOT NULL,
    file text NOT NULL,
    size bigint NOT NULL,
    mtime double precision NOT NULL,
    table_file text NOT NULL,
    state text NOT NULL,
    at_s double precision NOT NULL,
    duration_s double precision,
    speed double precision NOT NULL,
    rounds integer NOT NULL,
    alerts integer NOT NULL,
    message text NOT NULL,
    "out" text,
    created_at timestamp with time zone NOT NULL,
    by_name text NOT NULL,
    updated_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.recordings_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.recordings_id_seq OWNED BY public.recordings.id;
CREATE TABLE public.round_details (
    round bigint NOT NULL,
    record json NOT NULL,
    settlement json NOT NULL
);
CREATE TABLE public.rounds (
    id bigint NOT NULL,
    table_name text NOT NULL,
    camera text NOT NULL,
    round_id text NOT NULL,
    game text NOT NULL,
    dealer text,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    start_s text,
    end_s text,
    source text NOT NULL,
    recording_id bigint,
    undecided integer NOT NULL,
    alerts integer NOT NULL,
    versions_id bigint
);
CREATE SEQUENCE public.rounds_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.rounds_id_seq OWNED BY public.rounds.id;
CREATE TABLE public.sessions (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    token_sha256 text NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    address text NOT NULL,
    agent text NOT NULL,
    closed_at timestamp with time zone
);
CREATE SEQUENCE public.sessions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.sessions_id_seq OWNED BY public.sessions.id;
CREATE TABLE public.tokens (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    name text NOT NULL,
    token_sha256 text NOT NULL,
    scope text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone,
    used_at timestamp with time zone,
    revoked_at timestamp with time zone
);
CREATE SEQUENCE public.tokens_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.tokens_id_seq OWNED BY public.tokens.id;
CREATE TABLE public.users (
    id bigint NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    role text NOT NULL,
    password_hash text,
    disabled boolean NOT NULL,
    created_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.users_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.users_id_seq OWNED BY public.users.id;
CREATE TABLE public.verdicts (
    id bigint NOT NULL,
    alert bigint NOT NULL,
    verdict text NOT NULL,
    comment text NOT NULL,
    corrected json,
    by_name text NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT ck_verdicts_verdict CHECK ((verdict = ANY (ARRAY['confirmed'::text, 'rejected'::text, 'corrected'::text, 'reopened'::text])))
);
CREATE SEQUENCE public.verdicts_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.verdicts_id_seq OWNED BY public.verdicts.id;
CREATE TABLE public.versions (
    id bigint NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    sha256 text NOT NULL,
    detail json NOT NULL,
    first_at timestamp with time zone NOT NULL
);
CREATE SEQUENCE public.versions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.versions_id_seq OWNED BY public.versions.id;
ALTER TABLE ONLY public.alerts ALTER COLUMN id SET DEFAULT nextval('public.alerts_id_seq'::regclass);
ALTER TABLE ONLY public.attempts ALTER COLUMN id SET DEFAULT nextval('public.attempts_id_seq'::regclass);
ALTER TABLE ONLY public.audit ALTER COLUMN id SET DEFAULT nextval('public.audit_id_seq'::regclass);
ALTER TABLE ONLY public.cameras ALTER COLUMN id SET DEFAULT nextval('public.cameras_id_seq'::regclass);
ALTER TABLE ONLY public.dealers ALTER COLUMN id SET DEFAULT nextval('public.dealers_id_seq'::regclass);
ALTER TABLE ONLY public.health ALTER COLUMN id SET DEFAULT nextval('public.health_id_seq'::regclass);
ALTER TABLE ONLY public.links ALTER COLUMN id SET DEFAULT nextval('public.links_id_seq'::regclass);
ALTER TABLE ONLY public.recordings ALTER COLUMN id SET DEFAULT nextval('public.recordings_id_seq'::regclass);
ALTER TABLE ONLY public.rounds ALTER COLUMN id SET DEFAULT nextval('public.rounds_id_seq'::regclass);
ALTER TABLE ONLY public.sessions ALTER COLUMN id SET DEFAULT nextval('public.sessions_id_seq'::regclass);
ALTER TABLE ONLY public.tokens ALTER COLUMN id SET DEFAULT nextval('public.tokens_id_seq'::regclass);
ALTER TABLE ONLY public.users ALTER COLUMN id SET DEFAULT nextval('public.users_id_seq'::regclass);
ALTER TABLE ONLY public.verdicts ALTER COLUMN id SET DEFAULT nextval('public.verdicts_id_seq'::regclass);
ALTER TABLE ONLY public.versions ALTER COLUMN id SET DEFAULT nextval('public.versions_id_seq'::regclass);
INSERT INTO public.alembic_version VALUES ('0004');
INSERT INTO public.alerts VALUES (1, 't1-000001-01', 1, 't1', 'pit1-t1', 'rtsp://camera/1#run1', NULL, 'OVERPAID', 'high', 3, 'main', '2026-03-01 20:01:00+00', '61.000', '64.500', '$30', '$25', '003 Pays, row 1', 'Seat 3 was paid $30 for $25.', '["pictures/a.jpg", "pictures/b.jpg"]', 'corrected', true, 'ana', '2026-11-23 00:13:37.569697+00', 'pit1-t1/a.zip', '0000000000000000000000000000000000000000000000000000000000000000', 'pit1-t1/a-small.mp4', NULL, false, NULL, 500);
INSERT INTO public.alerts VALUES (2, 't1-000003-01', 3, 't1', 'pit1-t1', 'rtsp://camera/1#run1', NULL, 'UNDECIDED', 'info', 5, NULL, '2026-03-01 20:03:00+00', NULL, NULL, '$30', 'not judged: main', '003 Pays, row 1', 'Seat 5 was not fully read: stake.', '["pictures/a.jpg", "pictures/b.jpg"]', 'open', NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL);
INSERT INTO public.alerts VALUES (3, 't1-000003-02', 3, 't1', 'pit1-t1', 'rtsp://camera/1#run1', NULL, 'HAND_PAY', 'info', 3, 'main', '2026-03-01 20:04:00+00', NULL, NULL, NULL, NULL, NULL, 'Seat 3 was paid $30 for $25.', '[]', 'open', NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL);
INSERT INTO public.alerts VALUES (4, 't1-000005-01', 2, 't1', 'pit1-t1', 'rtsp://camera/1#run1', NULL, 'UNDECIDED', 'info', NULL, NULL, '2026-03-01 20:05:00+00', NULL, NULL, '$30', '$25', '003 Pays, row 1', 'Seat 3 was paid $30 for $25.', '["pictures/a.jpg", "pictures/b.jpg"]', 'rejected', false, 'bo', '2026-11-23 00:13:37.591341+00', NULL, NULL, NULL, NULL, true, 'bo', NULL);
INSERT INTO public.alerts VALUES (5, 't1-dark-20260301T200600', NULL, 't1', 'pit1-t1', 'rtsp://camera/1#run1', NULL, 'CAMERA', 'high', NULL, NULL, '2026-03-01 20:06:00+00', NULL, NULL, 'the picture is dark', NULL, NULL, 'pit1-t1: the picture is "dark".', '["pit1-t1/2026-03-01/x/dark.jpg"]', 'open', NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, NULL, NULL);
INSERT INTO public.health VALUES (1, 'pit1-t1', 'dark began', 'the picture is dark', '2026-03-01 20:00:00+00');
INSERT INTO public.health VALUES (2, 'pit1-t1', 'running', '', '2026-03-01 20:00:05+00');
INSERT INTO public.health VALUES (3, 'pit1-t1', 'dark ended', 'the picture is dark', '2026-03-01 20:00:09+00');
INSERT INTO public.health VALUES (4, 'pit1-t1', 'no-picture again', 'none', '2026-03-01 20:00:12+00');
INSERT INTO public.pending_evidence VALUES (2, 'awaiting_clip', '2026-11-23 00:13:37.58048+00', '{"version": 1}', NULL, '', '[]', 0, '');
INSERT INTO public.pending_evidence VALUES (3, 'awaiting_clip', '2026-11-23 00:13:37.588166+00', '{"version": 1}', NULL, '', '[]', 0, '');
INSERT INTO public.round_details VALUES (1, '{"round_id": "t1-000001", "table": "t1", "game": "emperors_challenge_exposed", "seats": [{"seat": 3, "low": ["AS", "KD"], "wagers": [{"wager": "main", "stake_cents": 2500, "action": "paid", "paid_cents": 3000}]}], "undecided": [{"seat": 3, "what": "high[2]", "why": "read as 7C with a share of 0.42 only"}, {"seat": 3, "what": "high[4]", "why": "read as KH with a share of 0.61 only"}, {"seat": 5, "what": "main.stake", "why": "the stack could not be counted surely"}, {"what": "end", "why": "no picture from 81.2 s to 90.4 s (frames dropped): the end of the round was not seen"}]}', '{"seats": [{"seat": 3, "wagers": [{"wager": "main", "outcome": "win", "pay_cents": 2500, "stake_cents": 2500}]}]}');
INSERT INTO public.round_details VALUES (2, '{"round_id": "t1-000002", "seats": [{"seat": 1, "low": ["AS", "KD"]}]}', '{"seats": [{"seat": 1, "why": "\u201c\u00e4\u00f6\u00fc\u201d \ud83c\udca1"}]}');
INSERT INTO public.round_details VALUES (3, '{"round_id": "t1-000003", "table": "t1", "game": "emperors_challenge_exposed", "seats": [{"seat": 3, "low": ["AS", "KD"], "wagers": [{"wager": "main", "stake_cents": 2500, "action": "paid", "paid_cents": 3000}]}], "undecided": [{"seat": 3, "what": "high[2]", "why": "read as 7C with a share of 0.42 only"}, {"seat": 3, "what": "high[4]", "why": "read as KH with a share of 0.61 only"}, {"seat": 5, "what": "main.stake", "why": "the stack could not be counted surely"}, {"what": "end", "why": "no picture from 81.2 s to 90.4 s (frames dropped): the end of the round was not seen"}]}', '{"seats": [{"seat": 3, "wagers": [{"wager": "main", "outcome": "win", "pay_cents": 2500, "stake_cents": 2500}]}]}');
INSERT INTO public.rounds VALUES (1, 't1', 'pit1-t1', 't1-000001', 'emperors_challenge_exposed', NULL, '2026-03-01 20:01:00+00', '2026-03-01 20:01:50+00', '60.250', '110.000', 'rtsp://camera/1#run1', NULL, 4, 1, NULL);
INSERT INTO public.rounds VALUES (3, 't1', 'pit1-t1', 't1-000003', 'emperors_challenge_exposed', NULL, '2026-03-01 20:03:00+00', '2026-03-01 20:03:50+00', '180.250', '230.000', 'rtsp://camera/1#run1', NULL, 4, 2, NULL);
INSERT INTO public.rounds VALUES (2, 't1', 'pit1-t1', 't1-000002', 'emperors_challenge_exposed', NULL, '2026-03-01 20:02:00+00', '2026-03-01 20:02:50+00', '120.250', '170.000', 'rtsp://camera/1#run1', NULL, 0, 1, NULL);
INSERT INTO public.verdicts VALUES (1, 1, 'corrected', 'see “clip”', '{"seat": 4}', 'ana', '2026-11-23 00:13:37.569697+00');
INSERT INTO public.verdicts VALUES (2, 4, 'rejected', '', NULL, 'bo', '2026-11-23 00:13:37.591341+00');
SELECT pg_catalog.setval('public.alerts_id_seq', 5, true);
SELECT pg_catalog.setval('public.attempts_id_seq', 1, false);
SELECT pg_catalog.setval('public.audit_id_seq', 1, false);
SELECT pg_catalog.setval('public.cameras_id_seq', 1, false);
SELECT pg_catalog.setval('public.dealers_id_seq', 1, false);
SELECT pg_catalog.setval('public.health_id_seq', 4, true);
SELECT pg_catalog.setval('public.links_id_seq', 1, false);
SELECT pg_catalog.setval('public.recordings_id_seq', 1, false);
SELECT pg_catalog.setval('public.rounds_id_seq', 3, true);
SELECT pg_catalog.setval('public.sessions_id_seq', 1, false);
SELECT pg_catalog.setval('public.tokens_id_seq', 1, false);
SELECT pg_catalog.setval('public.users_id_seq', 1, false);
SELECT pg_catalog.setval('public.verdicts_id_seq', 2, true);
SELECT pg_catalog.setval('public.versions_id_seq', 1, false);
ALTER TABLE ONLY public.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT pk_alerts PRIMARY KEY (id);
ALTER TABLE ONLY public.attempts
    ADD CONSTRAINT pk_attempts PRIMARY KEY (id);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT pk_audit PRIMARY KEY (id);
ALTER TABLE ONLY public.cameras
    ADD CONSTRAINT pk_cameras PRIMARY KEY (id);
ALTER TABLE ONLY public.dealers
    ADD CONSTRAINT pk_dealers PRIMARY KEY (id);
ALTER TABLE ONLY public.health
    ADD CONSTRAINT pk_health PRIMARY KEY (id);
ALTER TABLE ONLY public.links
    ADD CONSTRAINT pk_links PRIMARY KEY (id);
ALTER TABLE ONLY public.pending_evidence
    ADD CONSTRAINT pk_pending_evidence PRIMARY KEY (alert);
ALTER TABLE ONLY public.recordings
    ADD CONSTRAINT pk_recordings PRIMARY KEY (id);
ALTER TABLE ONLY public.round_details
    ADD CONSTRAINT pk_round_details PRIMARY KEY (round);
ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT pk_rounds PRIMARY KEY (id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT pk_sessions PRIMARY KEY (id);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT pk_tokens PRIMARY KEY (id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT pk_users PRIMARY KEY (id);
ALTER TABLE ONLY public.verdicts
    ADD CONSTRAINT pk_verdicts PRIMARY KEY (id);
ALTER TABLE ONLY public.versions
    ADD CONSTRAINT pk_versions PRIMARY KEY (id);
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT uq_alerts_camera_source_alert_id UNIQUE (camera, source, alert_id);
ALTER TABLE ONLY public.cameras
    ADD CONSTRAINT uq_cameras_name UNIQUE (name);
ALTER TABLE ONLY public.links
    ADD CONSTRAINT uq_links_token_sha256 UNIQUE (token_sha256);
ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT uq_rounds_camera_source_round_id UNIQUE (camera, source, round_id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT uq_sessions_token_sha256 UNIQUE (token_sha256);
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT uq_tokens_token_sha256 UNIQUE (token_sha256);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT uq_users_name_key UNIQUE (name_key);
ALTER TABLE ONLY public.versions
    ADD CONSTRAINT uq_versions_kind_name_sha256 UNIQUE (kind, name, sha256);
CREATE INDEX ix_alerts_camera_at_id ON public.alerts USING btree (camera, at, id);
CREATE INDEX ix_alerts_camera_state ON public.alerts USING btree (camera, state);
CREATE INDEX ix_alerts_cases ON public.alerts USING btree (at, id) WHERE is_case;
CREATE INDEX ix_alerts_code_at_id ON public.alerts USING btree (code, at, id);
CREATE INDEX ix_alerts_code_state_was_right ON public.alerts USING btree (code, state, was_right);
CREATE INDEX ix_alerts_dealer_at_id ON public.alerts USING btree (dealer, at, id);
CREATE INDEX ix_alerts_recording_id_at_id ON public.alerts USING btree (recording_id, at, id);
CREATE INDEX ix_alerts_round ON public.alerts USING btree (round);
CREATE INDEX ix_alerts_seat_at_id ON public.alerts USING btree (seat, at, id);
CREATE INDEX ix_alerts_state_at_id ON public.alerts USING btree (state, at, id);
CREATE INDEX ix_alerts_table_name_at_id ON public.alerts USING btree (table_name, at, id);
CREATE INDEX ix_alerts_tally ON public.alerts USING btree (at, id, table_name, camera, code, state, seat, dealer, recording_id, was_right, is_case, difference_cents);
CREATE INDEX ix_attempts_address_at ON public.attempts USING btree (address, at);
CREATE INDEX ix_attempts_at ON public.attempts USING btree (at);
CREATE INDEX ix_attempts_name_key_at ON public.attempts USING btree (name_key, at);
CREATE INDEX ix_audit_act_at_id ON public.audit USING btree (act, at, id);
CREATE INDEX ix_audit_at_id ON public.audit USING btree (at, id);
CREATE INDEX ix_audit_by_name_at_id ON public.audit USING btree (by_name, at, id);
CREATE INDEX ix_audit_target_at_id ON public.audit USING btree (target, at, id);
CREATE INDEX ix_dealers_name ON public.dealers USING btree (name);
CREATE INDEX ix_dealers_table_name_at_id ON public.dealers USING btree (table_name, at, id);
CREATE INDEX ix_health_at_id ON public.health USING btree (at, id);
CREATE INDEX ix_health_camera_at_id ON public.health USING btree (camera, at, id);
CREATE INDEX ix_health_state_at_id ON public.health USING btree (state, at, id);
CREATE INDEX ix_links_user_id ON public.links USING btree (user_id);
CREATE INDEX ix_pending_evidence_status_tries_alert ON public.pending_evidence USING btree (status, tries, alert);
CREATE INDEX ix_recordings_created_at_id ON public.recordings USING btree (created_at, id);
CREATE INDEX ix_recordings_folder_created_at_id ON public.recordings USING btree (folder, created_at, id);
CREATE INDEX ix_recordings_state_created_at_id ON public.recordings USING btree (state, created_at, id);
CREATE INDEX ix_rounds_camera_started_at_id ON public.rounds USING btree (camera, started_at, id);
CREATE INDEX ix_rounds_dealer_started_at_id ON public.rounds USING btree (dealer, started_at, id);
CREATE INDEX ix_rounds_recording_id_started_at_id ON public.rounds USING btree (recording_id, started_at, id);
CREATE INDEX ix_rounds_round_id_started_at_id ON public.rounds USING btree (round_id, started_at, id);
CREATE INDEX ix_rounds_table_name_started_at_id ON public.rounds USING btree (table_name, started_at, id);
CREATE INDEX ix_rounds_tally ON public.rounds USING btree (started_at, id, table_name, dealer, alerts, undecided);
CREATE INDEX ix_rounds_tally_by_dealer ON public.rounds USING btree (table_name, dealer, started_at, alerts, undecided);
CREATE INDEX ix_rounds_with_alerts ON public.rounds USING btree (started_at, id) WHERE (alerts > 0);
CREATE INDEX ix_rounds_with_undecided ON public.rounds USING btree (started_at, id) WHERE (undecided > 0);
CREATE INDEX ix_sessions_user_id ON public.sessions USING btree (user_id);
CREATE INDEX ix_tokens_user_id ON public.tokens USING btree (user_id);
CREATE INDEX ix_users_created_at_id ON public.users USING btree (created_at, id);
CREATE INDEX ix_verdicts_alert_id ON public.verdicts USING btree (alert, id);
CREATE INDEX ix_verdicts_tally ON public.verdicts USING btree (at, by_name, verdict, alert);
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT fk_alerts_recording_id FOREIGN KEY (recording_id) REFERENCES public.recordings(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT fk_alerts_round FOREIGN KEY (round) REFERENCES public.rounds(id);
ALTER TABLE ONLY public.links
    ADD CONSTRAINT fk_links_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.pending_evidence
    ADD CONSTRAINT fk_pending_evidence_alert FOREIGN KEY (alert) REFERENCES public.alerts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.round_details
    ADD CONSTRAINT fk_round_details_round FOREIGN KEY (round) REFERENCES public.rounds(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT fk_rounds_recording_id FOREIGN KEY (recording_id) REFERENCES public.recordings(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.rounds
    ADD CONSTRAINT fk_rounds_versions_id FOREIGN KEY (versions_id) REFERENCES public.versions(id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT fk_sessions_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.tokens
    ADD CONSTRAINT fk_tokens_user_id FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.verdicts
    ADD CONSTRAINT fk_verdicts_alert FOREIGN KEY (alert) REFERENCES public.alerts(id) ON DELETE CASCADE;
