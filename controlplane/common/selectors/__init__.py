"""What pages and the API ask of people, projects and the audit trail."""
